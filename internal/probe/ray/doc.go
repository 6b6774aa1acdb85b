// Package ray reads the HTTP API of a Ray head (port 8265): its version, the nodes and placement groups of the
// state API, the usage of the cluster's status, and the Jobs REST API. Formats: ray-project/ray
// python/ray/util/state/common.py, python/ray/dashboard/state_aggregator.py, python/ray/dashboard/modules/job.
package ray
