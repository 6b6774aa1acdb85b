package registry_test

import (
	"testing"

	"github.com/firstlight/firstlight/internal/reservation/registry"
	"github.com/firstlight/firstlight/internal/reservation/yamlfile/yamlfiletest"
)

func TestWrongFiles(t *testing.T) {
	t.Parallel()
	yamlfiletest.Wrong(t, 30, registry.Parse, registry.Rules())
}
