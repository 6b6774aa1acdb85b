// Package servicemetrics is the requirement ai_service_metrics: what an AI service
// says of itself is discovered, read, and served to autoscalers.
//
// The service is the site's inference server, one pod of it. While it lacks the mark
// by which the cluster's Prometheus chooses what to scrape, nothing of it is read;
// with the mark its series arrive, with its name and namespace, and the custom metrics
// API serves them of that very pod; they move with the requests that it works at, up
// and down; without the mark they end again, and stay away for longer than they took
// to come. Nothing but the mark changes: it is one and the same pod.
package servicemetrics
