// lanes_poly.h - polynomials of the elementary functions.
//
// Printed by tools/minimax.py. Errors are relative to the function named, for
// the coefficients as they stand, before the rounding of the steps.
#ifndef NUM_LANES_POLY_H
#define NUM_LANES_POLY_H

#include "num/lanes_int.h"

// e^x = 1 + x + x^2 p(x), |x| <= ln(2) / 2: error 2^-57.9.
INLINE double poly_exp64(double x)
{
    double p = 0x1.ada4dff7db6a5p-26;
    p = fma64(p, x, 0x1.28adfdbfd5989p-22);
    p = fma64(p, x, 0x1.71df0c94a8d1ap-19);
    p = fma64(p, x, 0x1.a019995de725bp-16);
    p = fma64(p, x, 0x1.a01a01360e60ep-13);
    p = fma64(p, x, 0x1.6c16c1847776bp-10);
    p = fma64(p, x, 0x1.11111111256b5p-7);
    p = fma64(p, x, 0x1.55555555506bap-5);
    p = fma64(p, x, 0x1.5555555555504p-3);
    p = fma64(p, x, 0x1.000000000000ap-1);
    return p;
}

// 2^x = 1 + x ln(2) + x^2 p(x), |x| <= 1/2: error 2^-57.9.
INLINE double poly_exp2_64(double x)
{
    double p = 0x1.e7c5c127b3d97p-32;
    p = fma64(p, x, 0x1.e617a9144bba9p-28);
    p = fma64(p, x, 0x1.b526535b55c51p-24);
    p = fma64(p, x, 0x1.62bfc9fcb3f38p-20);
    p = fma64(p, x, 0x1.ffcbfbc7afb7p-17);
    p = fma64(p, x, 0x1.4309130dc2401p-13);
    p = fma64(p, x, 0x1.5d87fe78c36f8p-10);
    p = fma64(p, x, 0x1.3b2ab6fba07a4p-7);
    p = fma64(p, x, 0x1.c6b08d704a046p-5);
    p = fma64(p, x, 0x1.ebfbdff82c5a1p-3);
    return p;
}

// log((1 + s) / (1 - s)) = 2 s + s^3 p(s^2), |s| < 0.1716: error 2^-59.5.
INLINE double poly_log64(double x)
{
    double p = 0x1.2f09227cccc6bp-3;
    p = fma64(p, x, 0x1.39a154c147fd9p-3);
    p = fma64(p, x, 0x1.746643350564ap-3);
    p = fma64(p, x, 0x1.c71c51f218cdep-3);
    p = fma64(p, x, 0x1.2492494211d37p-2);
    p = fma64(p, x, 0x1.999999997fafap-2);
    p = fma64(p, x, 0x1.5555555555593p-1);
    return p;
}

// the same = 2 s + 2/3 s^3 + s^5 p(s^2): error 2^-66.3.
INLINE double poly_log_far64(double x)
{
    double p = 0x1.0e43ca65c84b4p-3;
    p = fma64(p, x, 0x1.0f7fc87d2f32ap-3);
    p = fma64(p, x, 0x1.3b1eed96b386cp-3);
    p = fma64(p, x, 0x1.745ce9d9e42fcp-3);
    p = fma64(p, x, 0x1.c71c722d8563ap-3);
    p = fma64(p, x, 0x1.2492492457bc7p-2);
    p = fma64(p, x, 0x1.9999999999b31p-2);
    return p;
}

// sin(y), |y| <= pi / 4, = y + y^3 p(y^2): error 2^-57.9.
INLINE double poly_sin64(double x)
{
    double p = 0x1.5d8e1f66c1868p-33;
    p = fma64(p, x, -0x1.ae5e5421f4e56p-26);
    p = fma64(p, x, 0x1.71de355e9acc1p-19);
    p = fma64(p, x, -0x1.a01a019bf1aa9p-13);
    p = fma64(p, x, 0x1.111111110f75ap-7);
    p = fma64(p, x, -0x1.5555555555548p-3);
    return p;
}

// cos(y) = 1 - y^2 / 2 + y^4 p(y^2), |y| <= pi / 4: error 2^-63.9.
INLINE double poly_cos64(double x)
{
    double p = -0x1.8fa6873918f8ap-37;
    p = fma64(p, x, 0x1.1ee9dbd87ed81p-29);
    p = fma64(p, x, -0x1.27e4f7f1a46f3p-22);
    p = fma64(p, x, 0x1.a01a019c8f433p-16);
    p = fma64(p, x, -0x1.6c16c16c15016p-10);
    p = fma64(p, x, 0x1.555555555554bp-5);
    return p;
}

// asin(y), |y| <= 1/2, = y + y^3 p(y^2): error 2^-59.9.
INLINE double poly_asin64(double x)
{
    double p = 0x1.0b32f5f02155dp-5;
    p = fma64(p, x, -0x1.57bf0f3643381p-6);
    p = fma64(p, x, 0x1.637102aa30b64p-6);
    p = fma64(p, x, 0x1.e681c3de34e08p-9);
    p = fma64(p, x, 0x1.613377e947f76p-7);
    p = fma64(p, x, 0x1.75871d5d0d4e5p-7);
    p = fma64(p, x, 0x1.ca1f5dc0e08f7p-7);
    p = fma64(p, x, 0x1.1c49f2439ad76p-6);
    p = fma64(p, x, 0x1.6e8bdec6cba07p-6);
    p = fma64(p, x, 0x1.f1c71a95c5822p-6);
    p = fma64(p, x, 0x1.6db6db7210893p-5);
    p = fma64(p, x, 0x1.333333332e14dp-4);
    p = fma64(p, x, 0x1.5555555555577p-3);
    return p;
}

// atan(y), |y| <= tan(pi / 8), = y + y^3 p(y^2): error 2^-59.4.
INLINE double poly_atan64(double x)
{
    double p = -0x1.2560bcb440b07p-6;
    p = fma64(p, x, 0x1.37d15fc5b999ap-5);
    p = fma64(p, x, -0x1.9cd11d2bed085p-5);
    p = fma64(p, x, 0x1.df0ef2d5bc0c4p-5);
    p = fma64(p, x, -0x1.10ebb28a63aa7p-4);
    p = fma64(p, x, 0x1.3b1118a4f9de5p-4);
    p = fma64(p, x, -0x1.745cf8d6738c8p-4);
    p = fma64(p, x, 0x1.c71c70e5e3287p-4);
    p = fma64(p, x, -0x1.24924922ad0c4p-3);
    p = fma64(p, x, 0x1.9999999995863p-3);
    p = fma64(p, x, -0x1.555555555553dp-2);
    return p;
}

// sinh(y), |y| <= 1, = y + y^3 p(y^2): error 2^-61.7.
INLINE double poly_sinh64(double x)
{
    double p = 0x1.b5acc6e9ff29ap-41;
    p = fma64(p, x, 0x1.61174a4adf145p-33);
    p = fma64(p, x, 0x1.ae646f2e53c8ep-26);
    p = fma64(p, x, 0x1.71de3a3bdbcd8p-19);
    p = fma64(p, x, 0x1.a01a01a0365a7p-13);
    p = fma64(p, x, 0x1.1111111111022p-7);
    p = fma64(p, x, 0x1.5555555555556p-3);
    return p;
}

// tanh(y), |y| <= 0.55, = y + y^3 p(y^2): error 2^-60.6.
INLINE double poly_tanh64(double x)
{
    double p = -0x1.4706b84a1fe8dp-16;
    p = fma64(p, x, 0x1.5d700875135cap-14);
    p = fma64(p, x, -0x1.e96e35b1a1013p-13);
    p = fma64(p, x, 0x1.3483858fc79c2p-11);
    p = fma64(p, x, -0x1.7d8fce724942cp-10);
    p = fma64(p, x, 0x1.d6d29b28b69fdp-9);
    p = fma64(p, x, -0x1.226e2f118d20ap-7);
    p = fma64(p, x, 0x1.664f4859578c7p-6);
    p = fma64(p, x, -0x1.ba1ba1b97d098p-5);
    p = fma64(p, x, 0x1.1111111110794p-3);
    p = fma64(p, x, -0x1.555555555554fp-2);
    return p;
}

// erf(y) = y + y p(y^2), |y| <= 1: error 2^-56.3.
INLINE double poly_erf64(double x)
{
    double p = 0x1.24f22caa115fcp-33;
    p = fma64(p, x, -0x1.b37cff5619a3cp-30);
    p = fma64(p, x, 0x1.10453c8cdd4b1p-26);
    p = fma64(p, x, -0x1.63060268da00fp-23);
    p = fma64(p, x, 0x1.ba5876b016eebp-20);
    p = fma64(p, x, -0x1.f4dba2ef474aep-17);
    p = fma64(p, x, 0x1.f9a3a7ef1e743p-14);
    p = fma64(p, x, -0x1.c02db89c8c30bp-11);
    p = fma64(p, x, 0x1.565bcd29389ebp-8);
    p = fma64(p, x, -0x1.b82ce3134166cp-6);
    p = fma64(p, x, 0x1.ce2f21a04554dp-4);
    p = fma64(p, x, -0x1.812746b037a22p-2);
    p = fma64(p, x, 0x1.06eba8214db69p-3);
    return p;
}

// erfc(y) = e^(-y^2) p((y - 2) / (y + 2)), 1 <= y <= 6, of 1: error 2^-63.5.
INLINE double poly_erfc64(double x)
{
    double p = 0x1.0fdce24cbba57p-19;
    p = fma64(p, x, 0x1.7824d12bcb55bp-21);
    p = fma64(p, x, -0x1.d2ef16e218086p-17);
    p = fma64(p, x, -0x1.ccf33f6cb8bbfp-16);
    p = fma64(p, x, 0x1.ce296a7eb4c38p-16);
    p = fma64(p, x, 0x1.6da80e7fc4f5p-13);
    p = fma64(p, x, 0x1.6d5bad8e23c5p-15);
    p = fma64(p, x, -0x1.016b5f079a2bp-10);
    p = fma64(p, x, -0x1.bc25a386e2fabp-11);
    p = fma64(p, x, 0x1.ca95ed5915fecp-8);
    p = fma64(p, x, 0x1.e9471597ad78fp-9);
    p = fma64(p, x, -0x1.437f0b68c1a44p-4);
    p = fma64(p, x, 0x1.eeea7dc8a7856p-3);
    p = fma64(p, x, -0x1.b57034efd3f71p-2);
    p = fma64(p, x, 0x1.058671b52c776p-2);
    return p;
}

// e^x = 1 + x + x^2 p(x), |x| <= ln(2) / 2: error 2^-28.3.
INLINE float poly_exp32(float x)
{
    float p = 0x1.6a4f28p-10f;
    p = fma32(p, x, 0x1.12398p-7f);
    p = fma32(p, x, 0x1.5558aep-5f);
    p = fma32(p, x, 0x1.555492p-3f);
    p = fma32(p, x, 0x1.fffffcp-2f);
    return p;
}

// 2^x = 1 + x p(x), |x| <= 1/2: error 2^-28.3.
INLINE float poly_exp2_32(float x)
{
    float p = 0x1.417856p-13f;
    p = fma32(p, x, 0x1.5f094ap-10f);
    p = fma32(p, x, 0x1.3b2dd4p-7f);
    p = fma32(p, x, 0x1.c6af7ap-5f);
    p = fma32(p, x, 0x1.ebfbdcp-3f);
    p = fma32(p, x, 0x1.62e43p-1f);
    return p;
}

// log(1 + x) = x - x^2 / 2 + x^3 p(x), 0.707 < 1 + x < 1.415: error 2^-27.3.
INLINE float poly_log32(float x)
{
    float p = -0x1.38c5bep-4f;
    p = fma32(p, x, 0x1.0563d2p-3f);
    p = fma32(p, x, -0x1.0d8562p-3f);
    p = fma32(p, x, 0x1.22d87ep-3f);
    p = fma32(p, x, -0x1.54721ap-3f);
    p = fma32(p, x, 0x1.99a022p-3f);
    p = fma32(p, x, -0x1.000228p-2f);
    p = fma32(p, x, 0x1.555554p-2f);
    return p;
}

// log2(1 + x) = x log2(e) + x^2 p(x), the same range: error 2^-27.1.
INLINE float poly_log2_32(float x)
{
    float p = -0x1.c385cep-4f;
    p = fma32(p, x, 0x1.7e435p-3f);
    p = fma32(p, x, -0x1.878d54p-3f);
    p = fma32(p, x, 0x1.a2ded6p-3f);
    p = fma32(p, x, -0x1.eaae86p-3f);
    p = fma32(p, x, 0x1.277f18p-2f);
    p = fma32(p, x, -0x1.715ad6p-2f);
    p = fma32(p, x, 0x1.ec7094p-2f);
    p = fma32(p, x, -0x1.71547p-1f);
    return p;
}

// tanh(y), |y| <= 0.55, = y + y^3 p(y^2): error 2^-29.7.
INLINE float poly_tanh32(float x)
{
    float p = -0x1.9a478ep-8f;
    p = fma32(p, x, 0x1.59102ep-6f);
    p = fma32(p, x, -0x1.b9226ep-5f);
    p = fma32(p, x, 0x1.110cfcp-3f);
    p = fma32(p, x, -0x1.55554ap-2f);
    return p;
}
#endif
