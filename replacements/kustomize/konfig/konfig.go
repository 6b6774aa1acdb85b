// Package konfig is imported by tests of k8s.io/cli-runtime only.
package konfig
