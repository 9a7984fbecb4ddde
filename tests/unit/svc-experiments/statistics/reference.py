#!/usr/bin/env python3
"""Writes reference.h beside it: what the unit tests of svc-experiments/statistics compare with. Needs Debian's python3-scipy,
python3-statsmodels and python3-mpmath; the tests themselves do not. The values come from those, or from the formulas as the papers have
them (Wilson's, Miettinen and Nurminen's cubic and Tango's quadratic in closed form) in 60 digits: never from our own code."""

import pathlib

import mpmath
from mpmath import mpf
from scipy import stats
from statsmodels.stats import multitest

mpmath.mp.dps = 60
Q = mpmath.sqrt(2) * mpmath.erfinv(mpf('0.95'))


def student_p(t, degrees):
    t, degrees = mpf(t), mpf(degrees)
    return mpmath.betainc(degrees / 2, mpf(1) / 2, 0, degrees / (degrees + t * t), regularized=True)


def student_p_large(t, degrees):
    """By integrating the density, where the series of the incomplete beta function is slow."""
    t, n = mpf(t), mpf(degrees)
    front = mpmath.exp(mpmath.loggamma((n + 1) / 2) - mpmath.loggamma(n / 2)) / mpmath.sqrt(n * mpmath.pi)
    return 2 * mpmath.quad(lambda x: front * mpmath.exp(-(n + 1) / 2 * mpmath.log1p(x * x / n)), [t, t + 2, t + 6, t + 20, t + 60])


def bisect(falls, low, high):
    """Where a falling function passes 0."""
    for _ in range(240):
        middle = (low + high) / 2
        low, high = (middle, high) if falls(middle) > 0 else (low, middle)
    return (low + high) / 2


def wilson(x, n):
    centre, root = x + Q * Q / 2, Q * mpmath.sqrt(x * (n - x) / n + Q * Q / 4)
    return (centre - root) / (n + Q * Q), (centre + root) / (n + Q * Q)


def student_critical(alpha, degrees):
    return mpmath.findroot(lambda t: student_p(t, degrees) - mpf(alpha), float(stats.t.isf(float(alpha) / 2, degrees)))


def score_difference(x0, n0, x1, n1, d):
    """Miettinen and Nurminen 1985, with the closed form of their cubic."""
    n, x = n0 + n1, x0 + x1
    l3, l2 = n, (n1 + 2 * n0) * d - n - x
    l1, l0 = (n0 * d - n - 2 * x0) * d + x, x0 * d * (1 - d)
    q = (l2 / (3 * l3)) ** 3 - l1 * l2 / (6 * l3 ** 2) + l0 / (2 * l3)
    p = mpmath.sqrt(max((l2 / (3 * l3)) ** 2 - l1 / (3 * l3), mpf(0))) * (1 if q > 0 else -1)
    a = (mpmath.pi + mpmath.acos(max(min(q / p ** 3, mpf(1)), mpf(-1)) if p else 0)) / 3
    p0 = min(max(2 * p * mpmath.cos(a) - l2 / (3 * l3), mpf(0), -d), mpf(1), 1 - d)
    p1 = p0 + d
    variance = (p1 * (1 - p1) / n1 + p0 * (1 - p0) / n0) * n / (n - 1)
    gap = x1 / n1 - x0 / n0 - d
    return gap / mpmath.sqrt(variance) if variance > 0 else mpmath.sign(gap) * mpmath.inf if gap else mpf(0)


def score_ratio(x0, n0, x1, n1, r):
    n, x = n0 + n1, x0 + x1
    a, b = n * r, -(n1 * r + x1 + n0 + x0 * r)
    p0 = (-b - mpmath.sqrt(b * b - 4 * a * x)) / (2 * a) if a else x / -b
    p1 = p0 * r
    variance = (p1 * (1 - p1) / n1 + r * r * p0 * (1 - p0) / n0) * n / (n - 1)
    gap = x1 / n1 - r * x0 / n0
    return gap / mpmath.sqrt(variance) if variance > 0 else mpmath.sign(gap) * mpmath.inf if gap else mpf(0)


def proportions(x0, n0, x1, n1):
    given = [mpf(v) for v in (x0, n0, x1, n1)]
    d = given[2] / given[3] - given[0] / given[1]
    low = bisect(lambda at: score_difference(*given, at) - Q, mpf(-1), d)
    high = bisect(lambda at: score_difference(*given, at) + Q, d, mpf(1))
    p = mpmath.erfc(abs(score_difference(*given, mpf(0))) / mpmath.sqrt(2))
    lift = lift_low = lift_high = 'NAN'
    if x0:
        r = given[2] / given[3] * given[1] / given[0]
        lift = r - 1
        lift_low = bisect(lambda at: score_ratio(*given, at) - Q, mpf(0), r) - 1
        top = max(2 * r, mpf(1))
        while score_ratio(*given, top) > -Q:
            top *= 2
        lift_high = bisect(lambda at: score_ratio(*given, at) + Q, r, top) - 1
    return (x0, n0, x1, n1, d, low, high, p, lift, lift_low, lift_high, *wilson(given[0], given[1]))


def fieller(d, variance, m, m_variance, cov, q):
    d, variance, m, m_variance, cov, q = (mpf(v) for v in (d, variance, m, m_variance, cov, q))
    a, b = m * m - q * q * m_variance, d * m - q * q * cov
    if a <= 0:
        return 'NAN', 'NAN'
    root = mpmath.sqrt(b * b - a * (d * d - q * q * variance))
    return (b - root) / a, (b + root) / a


def means(n0, m0, v0, n1, m1, v1):
    test = stats.ttest_ind_from_stats(m1, v1 ** 0.5, n1, m0, v0 ** 0.5, n0, equal_var=False)
    s0, s1 = mpf(v0) / n0, mpf(v1) / n1
    degrees = (s0 + s1) ** 2 / (s0 ** 2 / (n0 - 1) + s1 ** 2 / (n1 - 1))
    q = mpf(float(stats.t.ppf(0.975, float(degrees))))
    d = mpf(m1) - mpf(m0)
    half = q * mpmath.sqrt(s0 + s1)
    relative = fieller(d, s0 + s1, m0, s0, -s0, q)
    return (n0, m0, v0, n1, m1, v1, d, d - half, d + half, degrees, test.pvalue, *relative)


def tango_score(b, a, n, d):
    big_b, c = (2 * n - b + a) * d - b - a, -a * d * (1 - d)
    q = (mpmath.sqrt(max(big_b ** 2 - 8 * n * c, mpf(0))) - big_b) / (4 * n)
    variance = n * (2 * q + d * (1 - d))
    gap = b - a - n * d
    return gap / mpmath.sqrt(variance) if variance > 0 else mpmath.sign(gap) * mpmath.inf if gap else mpf(0)


def pairs(b, a, n):
    given = mpf(b), mpf(a), mpf(n)
    d = (given[0] - given[1]) / given[2]
    low = bisect(lambda at: tango_score(*given, at) - Q, mpf(-1), d)
    high = bisect(lambda at: tango_score(*given, at) + Q, d, mpf(1))
    both, least = a + b, min(a, b)
    p = 1.0 if a == b else min(1.0, 2 * (stats.binom.cdf(least, both, 0.5) - stats.binom.pmf(least, both, 0.5) / 2))
    return (n, b, a, d, low, high, p)


def row(values):
    return '{' + ', '.join(v if isinstance(v, str) else mpmath.nstr(mpf(v), 17, strip_zeros=False) for v in values) + '},'


def table(comment, name, columns, rows):
    lines = [f'/* {comment} */', f'static const double {name}[][{columns}] = {{', *('\t' + row(r) for r in rows), '};', '']
    return '\n'.join(lines)


SMALL = [(t, n) for n in (1, 2, 3, 10, 30, 101, 1000, 10000) for t in ('1e-9', 0.5, 1, 2, 5, 12)]
LARGE = [(t, n) for n in (10001, 100000, 1e7, 2e12) for t in (0.5, 1, 2, 5, 12)]
COUNTS = [(120, 1000, 150, 1000), (0, 20, 3, 20), (86, 100, 92, 100), (20, 20, 17, 20), (0, 1, 1, 1), (1, 2, 1, 2), (3, 20, 0, 20),
          (0, 20, 0, 20), (20, 20, 20, 20), (5, 10, 5, 1000), (100, 10**6, 130, 10**6), (10**3, 10**12, 1100, 10**12),
          (2 * 10**11, 10**12, 2 * 10**11 + 1000, 10**12), (10**12 - 40, 10**12, 10**12 - 20, 10**12)]
MEANS = [(2, 1.0, 0.5, 2, 3.0, 0.25), (3407, 0.41, 15.21, 3461, 0.70, 38.44), (30, 5.0, 2.0, 7, 4.0, 30.0),
         (1e12, 1.0, 1.0, 1e12, 1.00000001, 1.0), (10**6, 1000.0, 1e-6, 10**6, 1000.000000001, 1e-6)]
PAIRS = [(1, 7, 21), (30, 15, 200), (0, 0, 10), (0, 5, 5), (3, 0, 12), (0, 1, 1), (400, 380, 100000), (10, 10, 50)]
P_HOLM = [0.01, 0.04, 0.03, 0.005, 0.55, 0.6]
P_BH = [0.898, 0.138, 0.007, 0.964, 0.538, 0.006, 0.138]


def write():
    parts = [
        '/* clang-format off */\n/* Written by reference.py beside it; not to be edited. */\n#pragma once\n\n#include <math.h>\n',
        table('t, degrees, P(|T| > t)', 'STUDENT', 3, [(t, n, student_p(t, n)) for t, n in SMALL]
              + [(t, n, student_p_large(t, n)) for t, n in LARGE]),
        table('alpha, degrees, t', 'STUDENT_CRITICAL', 3,
              [(a, n, student_critical(a, n)) for n in (1, 2, 3, 4, 10, 30, 1000) for a in ('0.2', '0.05', '0.001')]),
        table('p, z', 'NORMAL_QUANTILE', 2, [(p, mpmath.sqrt(2) * mpmath.erfinv(2 * mpf(p) - 1))
                                             for p in ('1e-12', '1e-4', 0.025, 0.2, 0.5, 0.6, 0.9, 0.975, 0.9999)]),
        table('x, degrees, P(X > x)', 'CHI_SQUARE', 3,
              [(x, k, mpmath.gammainc(mpf(k) / 2, mpf(x) / 2, regularized=True)) for k in (1, 2, 3, 4, 7, 9) for x in (0.5, 5, 30, 200)]),
        table('control and treatment: successes, n; D, low, high, p; lift, low, high; Wilson',
              'PROPORTIONS', 13, [proportions(*c) for c in COUNTS]),
        table('control n, mean, variance, treatment n, mean, variance; D, low, high, degrees, p; Fieller',
              'MEANS', 13, [means(*m) for m in MEANS]),
        table('n, right in the treatment only, in the control only; D, low, high, p', 'PAIRS', 7, [pairs(*p) for p in PAIRS]),
        table('p, adjusted by Holm', 'HOLM', 2, zip(P_HOLM, multitest.multipletests(P_HOLM, method='holm')[1])),
        table('p, adjusted by Benjamini and Hochberg', 'BENJAMINI_HOCHBERG', 2,
              zip(P_BH, multitest.multipletests(P_BH, method='fdr_bh')[1])),
    ]
    pathlib.Path(__file__).with_name('reference.h').write_text('\n'.join(parts) + '\n/* clang-format on */\n')


if __name__ == '__main__':
    write()
