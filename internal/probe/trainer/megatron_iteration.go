package trainer

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// parseIteration reads the fields behind "iteration 20/ 100 |".
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
	if it.Took <= 0 {
		return it, fmt.Errorf("no elapsed time")
	}
	return it, nil
}

// field takes one "name: value"; fields that are not used are stepped over.
func (it *MegatronIteration) field(name, value string) (err error) {
	switch name {
	case "elapsed time per iteration (ms)":
		v, ok := megatronNumber(value)
		if !ok || v <= 0 {
			return fmt.Errorf("elapsed time %.40q is no figure", value)
		}
		it.Took = v
	case "throughput per GPU (TFLOP/s/GPU)":
		v, ok := megatronNumber(value)
		if !ok || v < 0 {
			return fmt.Errorf("throughput %.40q is no figure", value)
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
	if v, ok := megatronNumber(value); ok {
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
		return 0, fmt.Errorf("%.40q is no count", s)
	}
	return n, nil
}

// megatronNumber refuses what is not finite.
func megatronNumber(s string) (float64, bool) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, false
	}
	return v, true
}
