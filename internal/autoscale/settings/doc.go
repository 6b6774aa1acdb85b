// Package settings finds what costs time in the chain, where the cluster says it:
// Prometheus' configuration and targets, the arguments and the environment of the
// adapter, the autoscaler, the exporter and kube-controller-manager, the adapter's
// rules, the NodePool and its node class.
//
// Each setting says where it was read. What could not be read is the upstream
// default and says so; what the site file states overrides both. Nothing here
// fails: that a setting is only assumed is for the reader to weigh.
package settings
