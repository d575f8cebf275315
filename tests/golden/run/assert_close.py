# torch_assert_close looks at shapes and dtypes; streams run in order; packed
# 4-bit floats are bytes.
import torch
from tilelang.utils.tensor import torch_assert_close


def tell(f):
    try:
        f()
        print("holds")
    except AssertionError as error:
        print(error)


if __name__ == "__main__":
    a = torch.ones(3)
    tell(lambda: torch_assert_close(a, a))
    tell(lambda: torch_assert_close(a, a.half()))
    tell(lambda: torch_assert_close(a, a.half(), check_dtype=False))
    tell(lambda: torch_assert_close(a, torch.ones(2)))
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    with torch.cuda.stream(torch.cuda.Stream()) as stream:
        start.record()
        a += 1
        stream.wait_event(end)
    torch.cuda.current_stream().synchronize()
    print(a.tolist(), start.elapsed_time(end))
    packed = torch.tensor([1, 35, 255], dtype=torch.uint8)
    print(packed.view(torch.float4_e2m1fn_x2).view(torch.uint8).tolist())
