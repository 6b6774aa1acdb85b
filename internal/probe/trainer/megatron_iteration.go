package trainer

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// parseIteration parses the fields after "iteration 20/ 100 |".
func parseIteration(step, total, rest string) (MegatronIteration, error) {
	var it MegatronIteration
	var err error
	if it.Step, err = count(step); err != nil {
		return it, err
	}
	if it.Total, err = count(total); err != nil {
		return it, err
	}
	for part := range strings.SplitSeq(rest, "|") {
		name, value, ok := strings.Cut(part, ":")
		if !ok {
			continue
		}
		if err := it.field(strings.TrimSpace(name), strings.TrimSpace(value)); err != nil {
			return it, err
		}
	}
	if it.StepMS <= 0 {
		return it, fmt.Errorf("elapsed time is missing")
	}
	return it, nil
}

// field stores one "name: value"; unknown fields are ignored.
func (it *MegatronIteration) field(name, value string) (err error) {
	switch name {
	case "elapsed time per iteration (ms)":
		v, ok := parseFinite(value)
		if !ok || v <= 0 {
			return fmt.Errorf("invalid elapsed time %.40q: must be a positive number", value)
		}
		it.StepMS = v
	case "throughput per GPU (TFLOP/s/GPU)":
		v, ok := parseFinite(value)
		if !ok || v < 0 {
			return fmt.Errorf("invalid throughput %.40q: must be a non-negative number", value)
		}
		it.TFLOPS = &v
	case "lm loss":
		it.loss(value)
	case "number of skipped iterations":
		it.Skipped, err = counted(value)
	case "number of nan iterations":
		it.NaN, err = counted(value)
	}
	return err
}

func (it *MegatronIteration) loss(value string) {
	if v, ok := parseFinite(value); ok {
		it.Loss = &v
		return
	}
	it.LossText = strings.Clone(value)
	if len(it.LossText) > 32 {
		it.LossText = it.LossText[:32]
	}
}

func counted(value string) (*int, error) {
	n, err := count(value)
	if err != nil {
		return nil, err
	}
	return &n, nil
}

func count(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("invalid count %.40q: must be a non-negative integer", s)
	}
	return n, nil
}

// parseFinite parses a finite number.
func parseFinite(s string) (float64, bool) {
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
}
