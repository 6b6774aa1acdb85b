// Package servicemetrics is the requirement ai_service_metrics: the metrics of an AI service
// are discovered, scraped, and served to autoscalers.
//
// The service is one pod of the site's inference server. Without the mark (annotation or
// label) by which the cluster's Prometheus discovers pods, Prometheus has no series of it.
// With the mark its series arrive with its name and namespace, and the custom metrics API
// serves them for that pod; they follow the number of requests, up and down. Without the mark
// they end, and stay absent for longer than their discovery took. Only the mark changes: it is
// the same pod throughout.
package servicemetrics
