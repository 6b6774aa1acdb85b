package workload

import (
	"testing"

	"github.com/firstlight/firstlight/internal/probe/corpus/growth"
)

func TestErrorsAreReadInLinearTime(t *testing.T) {
	growth.Linear(t, "an error of the API server", func(b []byte) { unanswered.FindSubmatch(b) },
		growth.Text{Name: "webhooks", Again: `failed calling webhook "a": `},
		growth.Text{Name: "addresses", Head: `failed calling webhook "a": `, Again: "https://a.b."},
		growth.Text{Name: "blanks", Again: " "},
	)
}
