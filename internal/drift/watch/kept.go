package watch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/firstlight/firstlight/internal/atomicfile"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence/strictjson"
	"github.com/firstlight/firstlight/internal/gate/node"
)

// keptFile has the observations that the next round is compared with, also that of a later process: a
// kernel log drops errors, and a restart repairs none of them.
const keptFile = "previous.json"

// readKept reads them. A watch of a version that did not store them has the kernel logs of its
// transitions.
func (w *Watch) readKept(transitions []Transition) ([]check.Observation, error) {
	path := filepath.Join(w.o.Dir, keptFile)
	out, err := readObservations(path)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return out, err
	}
	out = nil
	for _, t := range transitions {
		if t.Evidence == "" {
			continue
		}
		obs, err := readObservations(filepath.Join(w.o.Dir, filepath.FromSlash(t.Evidence)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		out = w.keep(out, check.OfKind(obs, node.KernelLog))
	}
	return out, nil
}

func readObservations(path string) ([]check.Observation, error) {
	var out []check.Observation
	data, err := os.ReadFile(path)
	if err == nil {
		err = strictjson.Unmarshal(data, &out)
	}
	if err != nil {
		return nil, fmt.Errorf("read the observations of an earlier watch in %s: %w; repair it, or move the directory of the watch", path, err)
	}
	return out, nil
}

// keep are the observations of all gates that the next round is compared with.
func (w *Watch) keep(previous, now []check.Observation) []check.Observation {
	var out []check.Observation
	for _, g := range w.o.Gates {
		out = append(out, g.Keep(previous, now)...)
	}
	return out
}

func (w *Watch) writeKept() error {
	data, err := json.Marshal(w.previous)
	if err != nil {
		return fmt.Errorf("encode the observations of the round: %w", err)
	}
	if err := atomicfile.Write(filepath.Join(w.o.Dir, keptFile), append(data, '\n'), fileMode); err != nil {
		return fmt.Errorf("store the observations of the round: %w", err)
	}
	return nil
}
