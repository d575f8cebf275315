# deepseek_v32/inference/kernel.py against torch: quantisation by blocks of 128
# columns, the product of such tensors, and the index score.
import sys

sys.path.append(sys.argv[1])
import kernel as m
import torch


def blocks(x):
    return x.float().reshape(x.shape[0], -1, 128)


def check_quant():
    x = torch.randn(70, 256, dtype=torch.bfloat16) * 3
    y, s = m.act_quant(x)
    scale = blocks(x).abs().amax(-1).clamp(min=1e-4) / 448
    torch.testing.assert_close(s, scale, rtol=1e-5, atol=0)
    want = (blocks(x) / scale.unsqueeze(-1)).reshape(70, 256)
    torch.testing.assert_close(y.float(), want, rtol=1 / 15, atol=2 ** -9)


def check_gemm():
    torch.set_default_dtype(torch.bfloat16)
    a = torch.randn(70, 256, dtype=torch.float32).to(torch.float8_e4m3fn)
    b = torch.randn(300, 256, dtype=torch.float32).to(torch.float8_e4m3fn)
    a_s = torch.rand(70, 2, dtype=torch.float32) + 0.5
    b_s = torch.rand(3, 2, dtype=torch.float32) + 0.5
    c = m.fp8_gemm(a, a_s, b, b_s)
    wide_a = (blocks(a) * a_s.unsqueeze(-1)).reshape(70, 256)
    wide_b = b.float() * b_s.repeat_interleave(128, 0)[:300] \
        .repeat_interleave(128, 1)
    torch.testing.assert_close(c.float(), wide_a @ wide_b.T, rtol=1e-2,
                               atol=0.3)


def check_index():
    q = torch.randn(2, 5, 32, 64, dtype=torch.float32).to(torch.float8_e4m3fn)
    k = torch.randn(2, 600, 64, dtype=torch.float32).to(torch.float8_e4m3fn)
    q_s = torch.rand(2, 5, 32, dtype=torch.float32)
    k_s = torch.rand(2, 600, dtype=torch.float32)
    got = m.fp8_index(q, q_s, k, k_s)
    score = torch.einsum("bmhd,bnd->bmnh", q.float(), k.float()).relu()
    want = (score * q_s.unsqueeze(2)).sum(-1) * k_s.unsqueeze(1)
    torch.testing.assert_close(got, want, rtol=1e-3, atol=1e-3)


if __name__ == "__main__":
    check_quant()
    check_gemm()
    check_index()
