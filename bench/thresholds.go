package main

import (
	"bytes"
	_ "embed" // thresholds.yaml
	"errors"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

//go:embed thresholds.yaml
var thresholdsFile []byte

// threshold is an entry of thresholds.yaml. Either AtMost or RatioAtLeast is set.
type threshold struct {
	Figure string `yaml:"figure"`
	// AtMost is the largest median that holds, in Unit.
	AtMost float64 `yaml:"atMost"`
	Unit   unit    `yaml:"unit"`
	// RatioAtLeast is the smallest ratio to the peer that holds.
	RatioAtLeast float64 `yaml:"ratioAtLeast"`
	Source       string  `yaml:"source"`
}

// readThresholds reads thresholds.yaml. A threshold that no figure uses is an error: it
// would never be judged.
func readThresholds(data []byte, declared []figure) ([]threshold, error) {
	var file struct {
		Thresholds []threshold `yaml:"thresholds"`
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&file); err != nil {
		return nil, fmt.Errorf("invalid thresholds.yaml: %w", err)
	}
	if len(file.Thresholds) == 0 {
		return nil, errors.New("invalid thresholds.yaml: no thresholds")
	}
	var errs []error
	seen := map[string]bool{}
	for _, t := range file.Thresholds {
		if seen[t.Figure] {
			errs = append(errs, fmt.Errorf("invalid thresholds.yaml: figure %q has two thresholds", t.Figure))
		}
		seen[t.Figure] = true
		if err := t.check(declared); err != nil {
			errs = append(errs, fmt.Errorf("invalid thresholds.yaml: figure %q: %w", t.Figure, err))
		}
	}
	return file.Thresholds, errors.Join(errs...)
}

func (t threshold) check(declared []figure) error {
	i := slices.IndexFunc(declared, func(f figure) bool { return f.name == t.Figure })
	if i < 0 {
		return errors.New("unused threshold: no part of the bench measures this figure")
	}
	f := declared[i]
	switch {
	case t.Source == "":
		return errors.New("source is required")
	case t.AtMost > 0 == (t.RatioAtLeast > 0) || t.AtMost < 0 || t.RatioAtLeast < 0:
		return errors.New("must have one of atMost and ratioAtLeast, above 0")
	case t.AtMost > 0 && f.higherIsBetter:
		return errors.New("atMost: higher values of this figure are better")
	case t.AtMost > 0 && t.Unit != f.unit:
		return fmt.Errorf("invalid unit %q: must be %q", t.Unit, f.unit)
	case t.RatioAtLeast > 0 && f.peer == "":
		return errors.New("ratioAtLeast: this figure has no peer")
	case t.RatioAtLeast > 0 && t.Unit != "":
		return errors.New("ratioAtLeast has no unit")
	}
	return nil
}

func (t threshold) String() string {
	if t.AtMost > 0 {
		return "at most " + format(t.AtMost, t.Unit)
	}
	return fmt.Sprintf("ratio at least %g", t.RatioAtLeast)
}

// problem is why a figure's threshold does not hold; nil where it does.
func (r result) problem() error {
	switch r.outcome {
	case noThreshold, held:
		return nil
	case missed:
		if r.threshold.AtMost > 0 {
			return fmt.Errorf("%s: median %s, threshold %s", r.name, format(r.median, r.unit), r.threshold)
		}
		return fmt.Errorf("%s: ratio %.2f to %s, threshold %s", r.name, r.ratio, r.peer, r.threshold)
	default:
		return fmt.Errorf("%s: not measured, threshold %s", r.name, r.threshold)
	}
}
