package pregate

import (
	"testing"

	"github.com/firstlight/firstlight/internal/probe/corpus/growth"
)

func TestManifestsAreReadInLinearTime(t *testing.T) {
	growth.Linear(t, "the manifest of a release", func(b []byte) { _, _ = decode(string(b)) }, growth.YAML()...)
}
