#include "statistics/testing.h"

#include "statistics/distribution.h"

#include <math.h>

double testing_rho(const struct testing *how)
{
	double twice = -2 * log(how->alpha);
	return sqrt((twice + log1p(twice)) / how->tuned_units);
}

/* N rho^2 */
static double tuned_information(const struct testing *how, double units)
{
	double rho = testing_rho(how);
	return units * rho * rho;
}

double testing_critical(const struct testing *how, double units, double degrees)
{
	if (!how->is_sequential)
		return student_critical(how->alpha, degrees);
	double information = tuned_information(how, units);
	double logarithm = log1p(information) / 2 - log(how->alpha);
	return sqrt(2 * (information + 1) * logarithm / information);
}

double testing_p(const struct testing *how, double z, double units, double degrees)
{
	if (!how->is_sequential)
		return student_p(z, degrees);
	double information = tuned_information(how, units);
	double exponent = log1p(information) / 2 - information * z * z / (2 * (information + 1));
	return exponent >= 0 ? 1 : exp(exponent);
}
