package config_test

import (
	"testing"

	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/config/configtest"
)

func TestInvalidRegistries(t *testing.T) {
	t.Parallel()
	configtest.Invalid(t, "testdata/registry", 30, config.ParseRegistry, config.RegistryRules())
}
