/*
 * claim.h - POST /api/claim, when the pool ends.
 */
#ifndef API_CLAIM_H
#define API_CLAIM_H

struct api;

/* From now on nobody gets jobs here: those that wait are answered, those that come are too. */
void claim_end_all(struct api *api);

#endif
