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


# One query token for each sequence of a cache, whose pages a table may name.
def flash_attn_with_kvcache(q, k_cache, v_cache, cache_seqlens=None,
                            block_table=None, softmax_scale=None,
                            causal=False):
    out = []
    for i in range(q.shape[0]):
        k, v = k_cache, v_cache
        if block_table is None:
            k, v = k[i], v[i]
        else:
            pages = block_table[i].long()
            k, v = (x[pages].reshape(-1, *x.shape[2:]) for x in (k, v))
        n = k.shape[0] if cache_seqlens is None else cache_seqlens[i].item()
        out.append(attend(q[i], k[:n], v[:n], softmax_scale, causal))
    return torch.stack(out)
