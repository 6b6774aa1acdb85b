package attest

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/evidencetest"
)

// A FIFO in place of the journal or of the attestation blocked verify without end.
func TestARunWithAFIFOIsRefused(t *testing.T) {
	t.Parallel()
	files := []string{
		"run.json", "plan.json", "site.yaml", "profile.yaml", "journal.jsonl", "verdicts.json", "manifest.json", evidence.AttestationFile,
		"", // an observation
	}
	for _, name := range files {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := evidencetest.Finished(t)
			sign(t, dir)
			if name == "" {
				name = observation(t, dir, "b")
			}
			remove(t, dir, name)
			if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
				t.Fatal(err)
			}
			intact := make(chan bool, 3)
			go func() {
				r, err := Verify(t.Context(), dir, Options{Keys: []PublicKey{key(t, 'k').Public()}, ChecksFor: evidencetest.ChecksFor})
				intact <- err == nil && r.Outcome() == OK
				_, err = Sign(t.Context(), dir, key(t, 'k'), SignOptions{ChecksFor: evidencetest.ChecksFor, Clock: later, Replace: true})
				intact <- err == nil
				_, err = evidence.Open(dir, evidence.Options{})
				intact <- err == nil
			}()
			for _, what := range []string{"verified", "signed", "resumed"} {
				select {
				case yes := <-intact:
					if yes {
						t.Errorf("it is %s", what)
					}
				case <-time.After(time.Minute):
					t.Fatalf("whether it is %s is not decided after a minute", what)
				}
			}
		})
	}
}

func TestADeviceIsNotRead(t *testing.T) {
	t.Parallel()
	link := filepath.Join(t.TempDir(), "run.json")
	if err := os.Symlink("/dev/zero", link); err != nil {
		t.Fatal(err)
	}
	if data, err := evidence.ReadFile(link); err == nil {
		t.Errorf("%d bytes", len(data))
	}
}
