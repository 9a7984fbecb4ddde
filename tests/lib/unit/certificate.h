/** Makes a certificate that no authority has signed, with openssl. */
#pragma once

#include "scratch.h"

struct certificate_files {
	char certificate[SCRATCH_PATH_MAX + 20], key[SCRATCH_PATH_MAX + 20];
};

/** Write a certificate for `localhost` and its key into the folder. Skips the test where there is
 * no openssl. */
static inline struct certificate_files certificate_make(const char *folder)
{
	struct certificate_files files;
	char command[512];
	snprintf(files.certificate, sizeof(files.certificate), "%s/certificate.pem", folder);
	snprintf(files.key, sizeof(files.key), "%s/key.pem", folder);
	snprintf(
		command, sizeof(command),
		"openssl req -x509 -nodes -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -days 2 "
		"-subj /CN=localhost -out %s -keyout %s 2>/dev/null",
		files.certificate, files.key);
	if (system(command) != 0)
		exit(77);
	return files;
}
