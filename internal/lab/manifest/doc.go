// Package manifest has the API objects that a lab creates first: kwok's definitions and prometheus-operator's
// PrometheusRule (copies of the pinned modules'), roles of the lab's programs, the APIServices of prometheus-adapter, the
// Gateway API's definitions (copies of the pinned module's standard channel) and, in a directory
// each, the objects of extras: copies of the pinned modules' definitions and chart files, and the
// lab's own in objects.yaml.
//
// The lab only creates objects, since its API server starts empty.
package manifest
