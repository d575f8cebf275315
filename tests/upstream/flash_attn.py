# flash_attn - attention in torch under the names of that library.
import torch


# Of sequences laid end to end; k and v may have fewer heads.
def flash_attn_varlen_func(q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q,
                           max_seqlen_k, dropout_p=0.0, softmax_scale=None,
                           causal=False):
    assert dropout_p == 0
    out = torch.zeros_like(q)
    for i in range(len(cu_seqlens_q) - 1):
        a, b = cu_seqlens_q[i].item(), cu_seqlens_q[i + 1].item()
        c, d = cu_seqlens_k[i].item(), cu_seqlens_k[i + 1].item()
        out[a:b] = attend(q[a:b], k[c:d], v[c:d], softmax_scale, causal)
    return out


def attend(q, k, v, scale, causal):
    groups = q.shape[1] // k.shape[1]
    k, v = (x.float().repeat_interleave(groups, 1).transpose(0, 1)
            for x in (k, v))
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    scores = (q.float().transpose(0, 1) @ k.mT) * scale
    if causal:
        seen = torch.ones(scores.shape[-2:], dtype=torch.bool)
        seen = seen.tril(k.shape[1] - q.shape[0])
        scores = scores.masked_fill(~seen, float("-inf"))
    return (scores.softmax(-1) @ v).transpose(0, 1).to(q.dtype)
