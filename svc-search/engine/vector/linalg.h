/** The little linear algebra that training needs: dense, row after row. */
#pragma once

#include <stddef.h>

/** Make the `columns` columns of `matrix` (`rows` x `columns`) orthonormal, by the Cholesky factor
 * of their Gram matrix (Golub and Van Loan, Matrix Computations, section 5.2). Columns that depend
 * on others come out small or as noise, never as infinities. */
void linalg_orthonormalise(float *matrix, size_t rows, size_t columns);

/** Eigenvalues and eigenvectors of the symmetric `matrix` (`n` x `n`, overwritten), by Jacobi's
 * cyclic rotations (there, section 8.5): `values` fall, and row i of `vectors` belongs to
 * values[i]. */
void linalg_eigen(double *matrix, size_t n, double *values, double *vectors);
