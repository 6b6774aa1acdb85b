// Package prom asks Prometheus and Alertmanager through their HTTP APIs: by
// URL, or by Service through the Kubernetes API server's proxy. It returns the
// answer as it came beside what it says.
//
// Invariants: answers are read to a bound; what is not the API's answer is an
// error and never an empty result. Credentials are read from files when a
// client is made and never appear in errors.
package prom
