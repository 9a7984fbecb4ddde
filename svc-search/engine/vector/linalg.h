/** Linear algebra for training the embedder, on dense row-major matrices. */
#pragma once

#include <stddef.h>

/** Make the `columns` columns of `matrix` (`rows` x `columns`) orthonormal, by the Cholesky factor
 * of their Gram matrix (Golub and Van Loan, Matrix Computations, section 5.2). Linearly dependent
 * columns become small or noise, but stay finite. */
void linalg_orthonormalise(float *matrix, size_t rows, size_t columns);

/** Eigenvalues and eigenvectors of the symmetric `matrix` (`n` x `n`, overwritten), by cyclic
 * Jacobi rotations (same book, section 8.5). `values` are in descending order; row i of `vectors`
 * is the eigenvector of values[i]. */
void linalg_eigen(double *matrix, size_t n, double *values, double *vectors);
