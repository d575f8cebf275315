explain
explain layout
explain layout mfma_32x32x8
explain layout mfma_32x32x9_f16
explain layout wgmma_m64n12k16_f32_f16
explain layout wgmma_m64n40k32_s32_s8
explain layouts x
explain layout a b
explain device h300
