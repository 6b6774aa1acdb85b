package config_test

import (
	"testing"

	"github.com/firstlight/firstlight/internal/probe/corpus/growth"
	"github.com/firstlight/firstlight/internal/reservation/config"
)

func TestRegistriesAreReadInLinearTime(t *testing.T) {
	texts := append(growth.YAML(),
		growth.Text{Name: "reservations", Head: "reservations:\n", Again: "- {name: a{n}, cloud: aws, slug: b{n}}\n"},
		growth.Text{Name: "one reservation", Head: "reservations:\n", Again: "- {name: a, cloud: aws, slug: b}\n"},
		growth.Text{Name: "floors", Head: "floors:\n", Again: "- {lane: aws, intents: [training], min-release: v1.0.0, reason: a}\n"},
	)
	growth.Linear(t, "a registry", func(b []byte) { _, _ = config.ParseRegistry("a", b) }, texts...)
	growth.Linear(t, "compat.yaml", func(b []byte) { _, _ = config.ParseCompat("a", b) }, texts...)
}
