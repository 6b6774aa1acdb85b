package fanout

import "github.com/firstlight/firstlight/internal/probe/kube"

// Labels and annotations in addition to those of package kube.
const (
	// LabelShard holds the index of an object's shard.
	LabelShard = "firstlight.dev/shard"
	// annotationDigest holds the digest of the published report.
	annotationDigest = "firstlight.dev/digest"
)

// Values of kube.LabelRole.
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
