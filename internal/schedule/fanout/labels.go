package fanout

import "github.com/firstlight/firstlight/internal/probe/kube"

// Labels and annotations, beside those of package kube.
const (
	// LabelShard holds the index of the shard that an object is of.
	LabelShard = "firstlight.dev/shard"
	// annotationDigest holds the digest of a report as it was published.
	annotationDigest = "firstlight.dev/digest"
)

// What objects are for, in kube.LabelRole.
const (
	roleMatrix  = "recipe-matrix"
	roleShard   = "recipe-shard"
	roleNames   = "recipe-names"
	roleRecipes = "recipe-tree"
	roleReport  = "recipe-report"
)

func labels(runID, role string) map[string]string {
	return map[string]string{kube.LabelRun: runID, kube.LabelRole: role}
}
