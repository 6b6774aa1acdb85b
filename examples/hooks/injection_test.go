package hooks_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/hook"
)

// A reservation-id that ended sed's command and began another ran a program with the
// cloud identity of the controller.
func TestTextOfTheRegistryIsNotExecuted(t *testing.T) {
	for name, id := range map[string]string{
		"command of sed":  "x|;1etouch${IFS}pwned;#",
		"end of a line":   `x\|e;s|x|touch pwned|e;#`,
		"substitution":    "$(touch pwned)",
		"replaced by sed": "&&",
	} {
		for program, cloud := range map[string]config.Cloud{"eks": config.AWS, "gke": config.GCP} {
			t.Run(program+"/"+name, func(t *testing.T) {
				b := newBench(t, program, cloud)
				t.Chdir(b.stub)
				b.row.ReservationID = id
				_, err := b.Provision(t.Context(), b.row, config.Training, "fl-day-ah1-x", hook.Lease{Token: token, Holder: "rotation"})
				t.Log(err) // it may be refused
				for _, dir := range []string{".", os.TempDir()} {
					if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
						t.Error("the text was run")
					}
				}
			})
		}
	}
}
