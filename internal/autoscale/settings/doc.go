// Package settings reads the settings that delay the chain: Prometheus' configuration and
// targets, the arguments and environment of the adapter, the autoscaler, the exporter and
// kube-controller-manager, the adapter's rules, the NodePool and its node class.
//
// Each setting has its source. A setting that cannot be read is the upstream default and
// marked as assumed; the site file overrides both. Read errors are not returned.
package settings
