package validate

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
)

// The accelerator of a recipe follows from the product name of the GPU.
func TestAcceleratorOf(t *testing.T) {
	t.Parallel()
	tr, err := (&cmdutil.RecipeFlags{}).Open(cmdutil.Streams{Err: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := acceleratorOf(tr, []string{"NVIDIA H100 80GB HBM3"}); err != nil || got != "h100" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := acceleratorOf(tr, []string{"NVIDIA H900"}); err == nil || !strings.Contains(err.Error(), "--recipe") {
		t.Errorf("%q, %v", got, err)
	}
}
