package world

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Regression: the kernel of Container-Optimized OS ends in a plus, and the API server refused the
// node with it as a label, so the lab never settled.
func TestKernelsAreValidLabels(t *testing.T) {
	t.Parallel()
	for _, name := range osNames() {
		os, err := loadOS(name)
		if err != nil {
			t.Fatal(err)
		}
		if problems := validation.IsValidLabelValue(os.KernelLabel()); len(problems) > 0 || os.KernelLabel() == "" {
			t.Errorf("%s: %q: %v", name, os.KernelLabel(), problems)
		}
	}
}
