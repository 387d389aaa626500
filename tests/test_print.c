/* tn_print: the text is what NumPy 2.4 prints (array2string with separator ", "), followed by dtype and device. */
#include "support/test.h"

#include <math.h>
#include <string.h>

/* ---- texts of NumPy ---- */

static const struct {
    tn_dtype dtype;
    tn_shape shape;
    double value[12];
    const char *text;
} floats[] = {
    {TN_F32, {1, {2}}, {1.0, 2.0},
     "[1., 2.]"},
    {TN_F32, {1, {3}}, {0.1, 0.2, 0.25},
     "[0.1 , 0.2 , 0.25]"},
    {TN_F32, {2, {2, 2}}, {1.0, 2.5, -3.0, 4.0},
     "[[ 1. ,  2.5],\n"
     "        [-3. ,  4. ]]"},
    {TN_F32, {0, {0}}, {0.3333333333333333},
     "0.33333334"},
    {TN_F64, {0, {0}}, {0.3333333333333333},
     "0.33333333"},
    {TN_F16, {0, {0}}, {0.3333333333333333},
     "0.3333"},
    {TN_F32, {0, {0}}, {-0.0},
     "-0."},
    {TN_F32, {0, {0}}, {NAN},
     "nan"},
    {TN_F64, {0, {0}}, {-INFINITY},
     "-inf"},
    {TN_F32, {0, {0}}, {12345678.0},
     "1.2345678e+07"},
    {TN_F32, {1, {2}}, {0.0, -0.0},
     "[ 0., -0.]"},
    {TN_F32, {1, {2}}, {NAN, 1.0},
     "[nan,  1.]"},
    {TN_F32, {1, {3}}, {INFINITY, -INFINITY, NAN},
     "[ inf, -inf,  nan]"},
    {TN_F32, {1, {1}}, {NAN},
     "[nan]"},
    {TN_F64, {1, {3}}, {-INFINITY, 1.5, 1000.0},
     "[  -inf,    1.5, 1000. ]"},
    {TN_F32, {1, {2}}, {NAN, 1e-10},
     "[   nan, 1.e-10]"},
    {TN_F32, {1, {2}}, {1e+30, -INFINITY},
     "[1.e+30,   -inf]"},
    {TN_F32, {1, {2}}, {1.0, 1e-05},
     "[1.e+00, 1.e-05]"},
    {TN_F32, {1, {2}}, {0.0001, 0.05},
     "[0.0001, 0.05  ]"},
    {TN_F64, {1, {2}}, {0.0001, 0.05},
     "[0.0001, 0.05  ]"},
    {TN_F64, {1, {2}}, {0.00012345, 0.1},
     "[0.00012345, 0.1       ]"},
    {TN_F32, {1, {2}}, {999999.0, 1000.0},
     "[999999.,   1000.]"},
    {TN_F32, {1, {2}}, {1000000.0, 1000.0},
     "[1.e+06, 1.e+03]"},
    {TN_F64, {1, {2}}, {99999999.0, 100000.0},
     "[99999999.,   100000.]"},
    {TN_F64, {1, {2}}, {100000000.0, 100000.0},
     "[1.e+08, 1.e+05]"},
    {TN_F32, {1, {2}}, {1000.0, 1.0},
     "[1000.,    1.]"},
    {TN_F32, {1, {2}}, {1001.0, 1.0},
     "[1.001e+03, 1.000e+00]"},
    {TN_F32, {1, {2}}, {3.4028234663852886e+38, 1.1754943508222875e-38},
     "[3.4028235e+38, 1.1754944e-38]"},
    {TN_F32, {1, {2}}, {1e-45, 1e-44},
     "[1.e-45, 1.e-44]"},
    {TN_F64, {1, {2}}, {5e-324, 1.7976931348623157e+308},
     "[4.94065646e-324, 1.79769313e+308]"},
    {TN_F64, {1, {3}}, {1e-100, 1e+100, 2.0},
     "[1.e-100, 1.e+100, 2.e+000]"},
    {TN_F64, {1, {3}}, {0.30000000000000004, 0.3333333333333333, 0.6666666666666666},
     "[0.3       , 0.33333333, 0.66666667]"},
    {TN_F32, {1, {3}}, {0.3333333333333333, 0.6666666666666666, 0.001},
     "[0.33333334, 0.6666667 , 0.001     ]"},
    {TN_F64, {1, {2}}, {9.999999995, 1.0},
     "[9.99999999, 1.        ]"},
    {TN_F64, {1, {2}}, {0.99999999999, 1.0},
     "[1., 1.]"},
    {TN_F32, {1, {2}}, {0.1, 1.2345678e-07},
     "[1.0000000e-01, 1.2345679e-07]"},
    {TN_F32, {1, {12}}, {1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625, 0.001953125, 0.0009765625, 0.00048828125},
     "[1.0000000e+00, 5.0000000e-01, 2.5000000e-01, 1.2500000e-01,\n"
     "        6.2500000e-02, 3.1250000e-02, 1.5625000e-02, 7.8125000e-03,\n"
     "        3.9062500e-03, 1.9531250e-03, 9.7656250e-04, 4.8828125e-04]"},
    {TN_F32, {1, {2}}, {1.0000001, 16777215.0},
     "[1.0000001e+00, 1.6777215e+07]"},
    {TN_F64, {1, {1}}, {2.5e-05},
     "[2.5e-05]"},
    {TN_F64, {1, {2}}, {1234567.891, 0.5},
     "[1.23456789e+06, 5.00000000e-01]"},
    {TN_F16, {1, {2}}, {65504.0, 1.0},
     "[6.55e+04, 1.00e+00]"},
    {TN_F16, {1, {2}}, {6e-08, 1.0},
     "[6.e-08, 1.e+00]"},
    {TN_F16, {1, {2}}, {0.1, 999.5},
     "[9.998e-02, 9.995e+02]"},
    {TN_F16, {1, {2}}, {1000.0, 2.0},
     "[1.e+03, 2.e+00]"},
    {TN_F16, {1, {3}}, {0.1, 0.2, 0.3},
     "[0.1, 0.2, 0.3]"},
    {TN_F16, {1, {3}}, {NAN, -INFINITY, 2.0},
     "[ nan, -inf,   2.]"},
    {TN_F32, {2, {2, 4}}, {0.0, 0.14285714285714285, 0.2857142857142857, 0.42857142857142855, 0.0, 1.5, 3.0, 4.5},
     "[[0.        , 0.14285715, 0.2857143 , 0.42857143],\n"
     "        [0.        , 1.5       , 3.        , 4.5       ]]"},
    {TN_F32, {3, {1, 1, 1}}, {1.0},
     "[[[1.]]]"},
    {TN_F64, {3, {2, 2, 3}}, {0.0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0, 1.125, 1.25, 1.375},
     "[[[0.   , 0.125, 0.25 ],\n"
     "         [0.375, 0.5  , 0.625]],\n"
     "\n"
     "        [[0.75 , 0.875, 1.   ],\n"
     "         [1.125, 1.25 , 1.375]]]"},
};

static const struct {
    tn_dtype dtype;
    tn_shape shape;
    int64_t value[4];
    const char *text;
} integers[] = {
    {TN_I8, {1, {3}}, {-128, 127, 0},
     "[-128,  127,    0]"},
    {TN_I16, {1, {2}}, {-32768, 5},
     "[-32768,      5]"},
    {TN_I32, {1, {2}}, {2147483647, -2147483648},
     "[ 2147483647, -2147483648]"},
    {TN_I64, {1, {3}}, {9223372036854775807, INT64_MIN, 0},
     "[ 9223372036854775807, -9223372036854775808,                    0]"},
    {TN_U8, {1, {2}}, {0, 255},
     "[  0, 255]"},
    {TN_U16, {1, {2}}, {65535, 1},
     "[65535,     1]"},
    {TN_U32, {1, {2}}, {4294967295, 10},
     "[4294967295,         10]"},
    {TN_U64, {1, {2}}, {-1, 0},
     "[18446744073709551615,                    0]"},
    {TN_I32, {0, {0}}, {7},
     "7"},
    {TN_BOOL, {0, {0}}, {1},
     "True"},
    {TN_BOOL, {1, {2}}, {1, 0},
     "[ True, False]"},
    {TN_I32, {2, {2, 2}}, {1, -20, 300, 4},
     "[[  1, -20],\n"
     "        [300,   4]]"},
};

/* Element i is i / divisor; of integers modulo 128 and of bool modulo 2. */
static const struct {
    tn_dtype dtype;
    tn_shape shape;
    int divisor;
    const char *text;
} counted[] = {
    {TN_F32, {1, {40}}, 1,
     "[ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11., 12.,\n"
     "        13., 14., 15., 16., 17., 18., 19., 20., 21., 22., 23., 24., 25.,\n"
     "        26., 27., 28., 29., 30., 31., 32., 33., 34., 35., 36., 37., 38.,\n"
     "        39.]"},
    {TN_F32, {1, {30}}, 7,
     "[0.        , 0.14285715, 0.2857143 , 0.42857143, 0.5714286 ,\n"
     "        0.71428573, 0.85714287, 1.        , 1.1428572 , 1.2857143 ,\n"
     "        1.4285715 , 1.5714285 , 1.7142857 , 1.8571428 , 2.        ,\n"
     "        2.142857  , 2.2857144 , 2.4285715 , 2.5714285 , 2.7142856 ,\n"
     "        2.857143  , 3.        , 3.142857  , 3.2857144 , 3.4285715 ,\n"
     "        3.5714285 , 3.7142856 , 3.857143  , 4.        , 4.142857  ]"},
    {TN_F32, {1, {1001}}, 1,
     "[   0.,    1.,    2., ...,  998.,  999., 1000.]"},
    {TN_F32, {1, {2000}}, 8,
     "[0.00000e+00, 1.25000e-01, 2.50000e-01, ..., 2.49625e+02,\n"
     "        2.49750e+02, 2.49875e+02]"},
    {TN_F32, {2, {40, 50}}, 1,
     "[[0.000e+00, 1.000e+00, 2.000e+00, ..., 4.700e+01, 4.800e+01,\n"
     "         4.900e+01],\n"
     "        [5.000e+01, 5.100e+01, 5.200e+01, ..., 9.700e+01, 9.800e+01,\n"
     "         9.900e+01],\n"
     "        [1.000e+02, 1.010e+02, 1.020e+02, ..., 1.470e+02, 1.480e+02,\n"
     "         1.490e+02],\n"
     "        ...,\n"
     "        [1.850e+03, 1.851e+03, 1.852e+03, ..., 1.897e+03, 1.898e+03,\n"
     "         1.899e+03],\n"
     "        [1.900e+03, 1.901e+03, 1.902e+03, ..., 1.947e+03, 1.948e+03,\n"
     "         1.949e+03],\n"
     "        [1.950e+03, 1.951e+03, 1.952e+03, ..., 1.997e+03, 1.998e+03,\n"
     "         1.999e+03]]"},
    {TN_F32, {2, {3, 400}}, 3,
     "[[0.0000000e+00, 3.3333334e-01, 6.6666669e-01, ..., 1.3233333e+02,\n"
     "         1.3266667e+02, 1.3300000e+02],\n"
     "        [1.3333333e+02, 1.3366667e+02, 1.3400000e+02, ..., 2.6566666e+02,\n"
     "         2.6600000e+02, 2.6633334e+02],\n"
     "        [2.6666666e+02, 2.6700000e+02, 2.6733334e+02, ..., 3.9900000e+02,\n"
     "         3.9933334e+02, 3.9966666e+02]]"},
    {TN_F64, {4, {2, 3, 4, 50}}, 1,
     "[[[[0.000e+00, 1.000e+00, 2.000e+00, ..., 4.700e+01, 4.800e+01,\n"
     "           4.900e+01],\n"
     "          [5.000e+01, 5.100e+01, 5.200e+01, ..., 9.700e+01, 9.800e+01,\n"
     "           9.900e+01],\n"
     "          [1.000e+02, 1.010e+02, 1.020e+02, ..., 1.470e+02, 1.480e+02,\n"
     "           1.490e+02],\n"
     "          [1.500e+02, 1.510e+02, 1.520e+02, ..., 1.970e+02, 1.980e+02,\n"
     "           1.990e+02]],\n"
     "\n"
     "         [[2.000e+02, 2.010e+02, 2.020e+02, ..., 2.470e+02, 2.480e+02,\n"
     "           2.490e+02],\n"
     "          [2.500e+02, 2.510e+02, 2.520e+02, ..., 2.970e+02, 2.980e+02,\n"
     "           2.990e+02],\n"
     "          [3.000e+02, 3.010e+02, 3.020e+02, ..., 3.470e+02, 3.480e+02,\n"
     "           3.490e+02],\n"
     "          [3.500e+02, 3.510e+02, 3.520e+02, ..., 3.970e+02, 3.980e+02,\n"
     "           3.990e+02]],\n"
     "\n"
     "         [[4.000e+02, 4.010e+02, 4.020e+02, ..., 4.470e+02, 4.480e+02,\n"
     "           4.490e+02],\n"
     "          [4.500e+02, 4.510e+02, 4.520e+02, ..., 4.970e+02, 4.980e+02,\n"
     "           4.990e+02],\n"
     "          [5.000e+02, 5.010e+02, 5.020e+02, ..., 5.470e+02, 5.480e+02,\n"
     "           5.490e+02],\n"
     "          [5.500e+02, 5.510e+02, 5.520e+02, ..., 5.970e+02, 5.980e+02,\n"
     "           5.990e+02]]],\n"
     "\n"
     "\n"
     "        [[[6.000e+02, 6.010e+02, 6.020e+02, ..., 6.470e+02, 6.480e+02,\n"
     "           6.490e+02],\n"
     "          [6.500e+02, 6.510e+02, 6.520e+02, ..., 6.970e+02, 6.980e+02,\n"
     "           6.990e+02],\n"
     "          [7.000e+02, 7.010e+02, 7.020e+02, ..., 7.470e+02, 7.480e+02,\n"
     "           7.490e+02],\n"
     "          [7.500e+02, 7.510e+02, 7.520e+02, ..., 7.970e+02, 7.980e+02,\n"
     "           7.990e+02]],\n"
     "\n"
     "         [[8.000e+02, 8.010e+02, 8.020e+02, ..., 8.470e+02, 8.480e+02,\n"
     "           8.490e+02],\n"
     "          [8.500e+02, 8.510e+02, 8.520e+02, ..., 8.970e+02, 8.980e+02,\n"
     "           8.990e+02],\n"
     "          [9.000e+02, 9.010e+02, 9.020e+02, ..., 9.470e+02, 9.480e+02,\n"
     "           9.490e+02],\n"
     "          [9.500e+02, 9.510e+02, 9.520e+02, ..., 9.970e+02, 9.980e+02,\n"
     "           9.990e+02]],\n"
     "\n"
     "         [[1.000e+03, 1.001e+03, 1.002e+03, ..., 1.047e+03, 1.048e+03,\n"
     "           1.049e+03],\n"
     "          [1.050e+03, 1.051e+03, 1.052e+03, ..., 1.097e+03, 1.098e+03,\n"
     "           1.099e+03],\n"
     "          [1.100e+03, 1.101e+03, 1.102e+03, ..., 1.147e+03, 1.148e+03,\n"
     "           1.149e+03],\n"
     "          [1.150e+03, 1.151e+03, 1.152e+03, ..., 1.197e+03, 1.198e+03,\n"
     "           1.199e+03]]]]"},
    {TN_I32, {1, {1001}}, 1,
     "[   0,    1,    2, ...,  998,  999, 1000]"},
    {TN_I32, {2, {40, 50}}, 1,
     "[[   0,    1,    2, ...,   47,   48,   49],\n"
     "        [  50,   51,   52, ...,   97,   98,   99],\n"
     "        [ 100,  101,  102, ...,  147,  148,  149],\n"
     "        ...,\n"
     "        [1850, 1851, 1852, ..., 1897, 1898, 1899],\n"
     "        [1900, 1901, 1902, ..., 1947, 1948, 1949],\n"
     "        [1950, 1951, 1952, ..., 1997, 1998, 1999]]"},
    {TN_I32, {3, {2, 3, 4}}, 1,
     "[[[ 0,  1,  2,  3],\n"
     "         [ 4,  5,  6,  7],\n"
     "         [ 8,  9, 10, 11]],\n"
     "\n"
     "        [[12, 13, 14, 15],\n"
     "         [16, 17, 18, 19],\n"
     "         [20, 21, 22, 23]]]"},
    {TN_I8, {1, {100}}, 1,
     "[ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15,\n"
     "        16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,\n"
     "        32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,\n"
     "        48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63,\n"
     "        64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79,\n"
     "        80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95,\n"
     "        96, 97, 98, 99]"},
    {TN_U8, {2, {3, 3}}, 1,
     "[[0, 1, 2],\n"
     "        [3, 4, 5],\n"
     "        [6, 7, 8]]"},
    {TN_BOOL, {2, {2, 2}}, 1,
     "[[False,  True],\n"
     "        [False,  True]]"},
    {TN_BOOL, {1, {1001}}, 1,
     "[False,  True, False, ..., False,  True, False]"},
    {TN_BOOL, {1, {30}}, 1,
     "[False,  True, False,  True, False,  True, False,  True, False,\n"
     "         True, False,  True, False,  True, False,  True, False,  True,\n"
     "        False,  True, False,  True, False,  True, False,  True, False,\n"
     "         True, False,  True]"},
    {TN_F32, {2, {1200, 1}}, 1,
     "[[0.000e+00],\n"
     "        [1.000e+00],\n"
     "        [2.000e+00],\n"
     "        ...,\n"
     "        [1.197e+03],\n"
     "        [1.198e+03],\n"
     "        [1.199e+03]]"},
    {TN_F32, {2, {1, 1200}}, 1,
     "[[0.000e+00, 1.000e+00, 2.000e+00, ..., 1.197e+03, 1.198e+03,\n"
     "         1.199e+03]]"},
    {TN_I32, {4, {2, 2, 2, 2}}, 1,
     "[[[[ 0,  1],\n"
     "          [ 2,  3]],\n"
     "\n"
     "         [[ 4,  5],\n"
     "          [ 6,  7]]],\n"
     "\n"
     "\n"
     "        [[[ 8,  9],\n"
     "          [10, 11]],\n"
     "\n"
     "         [[12, 13],\n"
     "          [14, 15]]]]"},
    {TN_F16, {2, {33, 40}}, 16,
     "[[0.000e+00, 6.250e-02, 1.250e-01, ..., 2.312e+00, 2.375e+00,\n"
     "         2.438e+00],\n"
     "        [2.500e+00, 2.562e+00, 2.625e+00, ..., 4.812e+00, 4.875e+00,\n"
     "         4.938e+00],\n"
     "        [5.000e+00, 5.062e+00, 5.125e+00, ..., 7.312e+00, 7.375e+00,\n"
     "         7.438e+00],\n"
     "        ...,\n"
     "        [7.500e+01, 7.506e+01, 7.512e+01, ..., 7.731e+01, 7.738e+01,\n"
     "         7.744e+01],\n"
     "        [7.750e+01, 7.756e+01, 7.762e+01, ..., 7.981e+01, 7.988e+01,\n"
     "         7.994e+01],\n"
     "        [8.000e+01, 8.006e+01, 8.012e+01, ..., 8.231e+01, 8.238e+01,\n"
     "         8.244e+01]]"},
    {TN_I32, {3, {11, 11, 11}}, 1,
     "[[[   0,    1,    2, ...,    8,    9,   10],\n"
     "         [  11,   12,   13, ...,   19,   20,   21],\n"
     "         [  22,   23,   24, ...,   30,   31,   32],\n"
     "         ...,\n"
     "         [  88,   89,   90, ...,   96,   97,   98],\n"
     "         [  99,  100,  101, ...,  107,  108,  109],\n"
     "         [ 110,  111,  112, ...,  118,  119,  120]],\n"
     "\n"
     "        [[ 121,  122,  123, ...,  129,  130,  131],\n"
     "         [ 132,  133,  134, ...,  140,  141,  142],\n"
     "         [ 143,  144,  145, ...,  151,  152,  153],\n"
     "         ...,\n"
     "         [ 209,  210,  211, ...,  217,  218,  219],\n"
     "         [ 220,  221,  222, ...,  228,  229,  230],\n"
     "         [ 231,  232,  233, ...,  239,  240,  241]],\n"
     "\n"
     "        [[ 242,  243,  244, ...,  250,  251,  252],\n"
     "         [ 253,  254,  255, ...,  261,  262,  263],\n"
     "         [ 264,  265,  266, ...,  272,  273,  274],\n"
     "         ...,\n"
     "         [ 330,  331,  332, ...,  338,  339,  340],\n"
     "         [ 341,  342,  343, ...,  349,  350,  351],\n"
     "         [ 352,  353,  354, ...,  360,  361,  362]],\n"
     "\n"
     "        ...,\n"
     "\n"
     "        [[ 968,  969,  970, ...,  976,  977,  978],\n"
     "         [ 979,  980,  981, ...,  987,  988,  989],\n"
     "         [ 990,  991,  992, ...,  998,  999, 1000],\n"
     "         ...,\n"
     "         [1056, 1057, 1058, ..., 1064, 1065, 1066],\n"
     "         [1067, 1068, 1069, ..., 1075, 1076, 1077],\n"
     "         [1078, 1079, 1080, ..., 1086, 1087, 1088]],\n"
     "\n"
     "        [[1089, 1090, 1091, ..., 1097, 1098, 1099],\n"
     "         [1100, 1101, 1102, ..., 1108, 1109, 1110],\n"
     "         [1111, 1112, 1113, ..., 1119, 1120, 1121],\n"
     "         ...,\n"
     "         [1177, 1178, 1179, ..., 1185, 1186, 1187],\n"
     "         [1188, 1189, 1190, ..., 1196, 1197, 1198],\n"
     "         [1199, 1200, 1201, ..., 1207, 1208, 1209]],\n"
     "\n"
     "        [[1210, 1211, 1212, ..., 1218, 1219, 1220],\n"
     "         [1221, 1222, 1223, ..., 1229, 1230, 1231],\n"
     "         [1232, 1233, 1234, ..., 1240, 1241, 1242],\n"
     "         ...,\n"
     "         [1298, 1299, 1300, ..., 1306, 1307, 1308],\n"
     "         [1309, 1310, 1311, ..., 1317, 1318, 1319],\n"
     "         [1320, 1321, 1322, ..., 1328, 1329, 1330]]]"},
};

/* ---- making and printing ---- */

/* Number i of a buffer of that dtype. */
static void store(tn_dtype dtype, void *buffer, int64_t i, double value)
{
    switch (dtype) {
    case TN_F64: ((double *)buffer)[i] = value; break;
    case TN_F32: ((float *)buffer)[i] = (float)value; break;
    case TN_F16: ((uint16_t *)buffer)[i] = tn_f16_from_f32((float)value); break;
    case TN_BF16: ((uint16_t *)buffer)[i] = tn_bf16_from_f32((float)value); break;
    default: ck_abort_msg("%s is no float", tn_dtype_name(dtype));
    }
}

static void store_integer(tn_dtype dtype, void *buffer, int64_t i, int64_t value)
{
    switch (tn_dtype_size(dtype)) {
    case 1: ((uint8_t *)buffer)[i] = (uint8_t)value; break;
    case 2: ((uint16_t *)buffer)[i] = (uint16_t)value; break;
    case 4: ((uint32_t *)buffer)[i] = (uint32_t)value; break;
    default: ((uint64_t *)buffer)[i] = (uint64_t)value; break;
    }
}

static int64_t count_of(tn_shape shape)
{
    int64_t count = 1;
    for (int i = 0; i < shape.ndim; i++)
        count *= shape.dim[i];
    return count;
}

/* What tn_print writes; to be freed. */
static char *printed(tn_tensor *x)
{
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    const tn_status status = tn_print(file, x);
    fclose(file);
    ck_assert_msg(status == TN_OK, "%s", tn_last_error());
    return text;
}

/* x prints as "tensor(" and text, then a comma. Releases x. */
static void prints(tn_tensor *x, const char *text, int row)
{
    ck_assert_msg(x != NULL, "row %d: %s", row, tn_last_error());
    char *got = printed(x);
    ck_assert_msg(strncmp(got, "tensor(", 7) == 0 && strncmp(got + 7, text, strlen(text)) == 0 &&
                      got[7 + strlen(text)] == ',', "row %d:\n%s\ninstead of\ntensor(%s", row, got, text);
    free(got);
    tn_release(x);
}

static void prints_whole(tn_tensor *x, const char *text)
{
    ck_assert_msg(x != NULL, "%s", tn_last_error());
    char *got = printed(x);
    ck_assert_str_eq(got, text);
    free(got);
    tn_release(x);
}

START_TEST(floats_print_as_numpys)
{
    for (size_t r = 0; r < sizeof floats / sizeof *floats; r++) {
        double buffer[12];
        if (floats[r].dtype == TN_F64 && !test_has_f64())
            continue;
        for (int64_t i = 0; i < count_of(floats[r].shape); i++)
            store(floats[r].dtype, buffer, i, floats[r].value[i]);
        prints(tn_from(floats[r].dtype, floats[r].shape, buffer, test_device()), floats[r].text, (int)r);
    }
}
END_TEST

START_TEST(integers_and_bool_print_as_numpys)
{
    for (size_t r = 0; r < sizeof integers / sizeof *integers; r++) {
        int64_t buffer[4];
        for (int64_t i = 0; i < count_of(integers[r].shape); i++)
            store_integer(integers[r].dtype, buffer, i, integers[r].value[i]);
        prints(tn_from(integers[r].dtype, integers[r].shape, buffer, test_device()), integers[r].text, (int)r);
    }
}
END_TEST

START_TEST(long_tensors_wrap_and_are_summarised_as_numpys)
{
    static double buffer[2048];
    for (size_t r = 0; r < sizeof counted / sizeof *counted; r++) {
        const tn_dtype dtype = counted[r].dtype;
        if (dtype == TN_F64 && !test_has_f64())
            continue;
        for (int64_t i = 0; i < count_of(counted[r].shape); i++)
            if (tn_dtype_is_float(dtype))
                store(dtype, buffer, i, (double)i / counted[r].divisor);
            else
                store_integer(dtype, buffer, i, dtype == TN_BOOL ? i % 2 : dtype == TN_I8 ? i % 128 : i);
        prints(tn_from(dtype, counted[r].shape, buffer, test_device()), counted[r].text, (int)r);
    }
}
END_TEST

/* ---- what NumPy does not have ---- */

START_TEST(bf16_prints_the_digits_that_tell_its_numbers_apart)
{
    uint16_t bits[5];
    const double values[5] = {1, 0.2, 1.0078125, -3.140625, 100.5};
    for (int i = 0; i < 5; i++)
        store(TN_BF16, bits, i, values[i]);
    prints(tn_from(TN_BF16, TN_SHAPE(5), bits, test_device()), "[  1.  ,   0.2 ,   1.01,  -3.14, 100.5 ]", 0);
}
END_TEST

START_TEST(dtype_and_device_follow)
{
    const float two[] = {1, 2};
    prints_whole(tn_from(TN_F32, TN_SHAPE(2), two, "host"), "tensor([1., 2.], dtype=f32, device=host)\n");
    prints_whole(tn_from(TN_BOOL, TN_SHAPE(), "\1", "host"), "tensor(True, dtype=bool, device=host)\n");
    prints_whole(tn_zeros(TN_I64, TN_SHAPE(2, 2), "host"),
                 "tensor([[0, 0],\n        [0, 0]], dtype=i64, device=host)\n");
}
END_TEST

START_TEST(a_long_last_line_puts_dtype_and_device_on_one_of_their_own)
{
    prints_whole(tn_arange(TN_I32, 0, 14, 1, "host"),
                 "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13],\n"
                 "       dtype=i32, device=host)\n");
    prints_whole(tn_arange(TN_I32, 0, 10, 1, "host"),
                 "tensor([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], dtype=i32, device=host)\n");
}
END_TEST

START_TEST(the_shape_follows_where_it_cannot_be_seen)
{
    prints_whole(tn_zeros(TN_F32, TN_SHAPE(0), "host"), "tensor([], dtype=f32, device=host)\n");
    prints_whole(tn_zeros(TN_F32, TN_SHAPE(0, 3), "host"), "tensor([], shape=(0, 3), dtype=f32, device=host)\n");
    prints_whole(tn_zeros(TN_I8, TN_SHAPE(2000), "host"),
                 "tensor([0, 0, 0, ..., 0, 0, 0], shape=(2000,), dtype=i8, device=host)\n");
}
END_TEST

START_TEST(views_print_what_they_show)
{
    tn_tensor *x = tn_arange(TN_I32, 0, 6, 1, test_device());
    tn_tensor *matrix = tn_reshape(x, TN_SHAPE(2, 3));
    prints(tn_transpose(matrix, 0, 1), "[[0, 3],\n        [1, 4],\n        [2, 5]]", 0);
    prints(tn_flip(x, TN_AXES(0)), "[5, 4, 3, 2, 1, 0]", 1);
    prints(tn_slice(x, 0, 1, 6, 2), "[1, 3, 5]", 2);
    tn_release(matrix);
    tn_release(x);
}
END_TEST

START_TEST(of_a_huge_tensor_only_the_edges_are_read)
{
    tn_tensor *one = tn_ones(TN_U8, TN_SHAPE(1, 1), test_device());
    prints(tn_expand(one, TN_SHAPE(1000000, 1000000)),
           "[[1, 1, 1, ..., 1, 1, 1],\n        [1, 1, 1, ..., 1, 1, 1],\n        [1, 1, 1, ..., 1, 1, 1],\n        ...,\n"
           "        [1, 1, 1, ..., 1, 1, 1],\n        [1, 1, 1, ..., 1, 1, 1],\n        [1, 1, 1, ..., 1, 1, 1]]", 0);
    tn_release(one);
}
END_TEST

START_TEST(printing_runs_what_is_pending)
{
    tn_tensor *x = tn_arange(TN_I32, 0, 2000, 1, test_device()), *one = tn_int(1);
    prints(tn_add(x, one), "[   1,    2,    3, ..., 1998, 1999, 2000]", 0);
    tn_release(one);
    tn_release(x);
}
END_TEST

START_TEST(printing_leaves_no_handles)
{
    tn_tensor *x = tn_zeros(TN_F32, TN_SHAPE(100, 100), test_device());
    const int64_t before = tn_live_count();
    free(printed(x));
    ck_assert_int_eq(tn_live_count(), before);
    tn_release(x);
}
END_TEST

START_TEST(wrong_arguments_of_print_are_errors)
{
    ck_assert_int_eq(tn_print(stdout, NULL), TN_ARGUMENT);
    tn_clear_error();
    ck_assert_int_eq(tn_print(stdout, TN_NONE), TN_ARGUMENT);
    tn_clear_error();
    tn_tensor *x = tn_zeros(TN_F32, TN_SHAPE(2), "host");
    ck_assert_int_eq(tn_print(NULL, x), TN_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(tn_last_error(), "file"));
    FILE *full = fopen("/dev/full", "w");
    if (full) {
        setvbuf(full, NULL, _IONBF, 0);
        ck_assert_int_eq(tn_print(full, x), TN_FILE);
        fclose(full);
    }
    tn_clear_error();
    tn_release(x);
}
END_TEST

TEST_MAIN("print", NULL, NULL, floats_print_as_numpys, integers_and_bool_print_as_numpys,
          long_tensors_wrap_and_are_summarised_as_numpys, bf16_prints_the_digits_that_tell_its_numbers_apart,
          dtype_and_device_follow, a_long_last_line_puts_dtype_and_device_on_one_of_their_own,
          the_shape_follows_where_it_cannot_be_seen, views_print_what_they_show,
          of_a_huge_tensor_only_the_edges_are_read, printing_runs_what_is_pending, printing_leaves_no_handles,
          wrong_arguments_of_print_are_errors)
