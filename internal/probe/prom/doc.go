// Package prom is a client of the HTTP APIs of Prometheus and Alertmanager, by URL or by Service
// through the API server proxy. It returns the raw response with the parsed result.
//
// Responses are bounded. An invalid response is an error, never an empty result. Credentials
// are read from files when a client is created and never appear in errors.
package prom
