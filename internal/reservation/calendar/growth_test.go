package calendar_test

import (
	"testing"

	"github.com/firstlight/firstlight/internal/probe/corpus/growth"
	"github.com/firstlight/firstlight/internal/reservation/calendar"
)

func TestSchedulesAreReadInLinearTime(t *testing.T) {
	texts := append(growth.YAML(),
		growth.Text{Name: "entries", Head: "entries:\n", Again: "- {name: a{n}, action: up, cron: \"0 6 * * 1-5\"}\n"},
		growth.Text{Name: "entries of one name", Head: "entries:\n", Again: "- {name: a, action: up, cron: \"0 6 * * 1-5\"}\n"},
		growth.Text{Name: "minutes", Head: "entries:\n- {name: a, action: up, cron: \"0", Again: ",1", Tail: " 6 * * 1-5\"}\n"},
	)
	growth.Linear(t, "a schedule", func(b []byte) { _, _ = calendar.Parse("a", b) }, texts...)
}
