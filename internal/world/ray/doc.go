// Package ray imitates the HTTP server of a Ray head (port 8265): its version, the state API, the status of the
// cluster and the Jobs REST API, as ray-project/ray has them in python/ray/dashboard and python/ray/util/state.
//
// A submitted job runs only if its entrypoint creates a placement group; its last four words are the
// group's name, its number of bundles, the GPUs of each and how long the driver keeps it. A task of it, if it has one,
// lists the GPUs with nvidia-smi on each bundle.
package ray
