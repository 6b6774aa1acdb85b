package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// chainReport is what autoscale -o json prints, as far as it is measured.
type chainReport struct {
	Hops []struct {
		Hop   string  `json:"hop"`
		Phase string  `json:"phase"`
		Took  float64 `json:"took"`
	} `json:"hops"`
}

// The parts of a chain that are compared with thresholds.
const (
	chainWhole = "autoscale on a running lab"
	chainUp    = chainWhole + ": up path"
	chainDown  = chainWhole + ": down path"
)

// measureChain proves the autoscaling chain n times on one lab.
func (b *bench) measureChain(ctx context.Context) (err error) {
	const name = "bench-chain"
	defer func() { err = errors.Join(err, b.labDown(ctx, name)) }()
	if _, err := b.timed(ctx, nil, "lab", "up", "--name", name, "--with", "karpenter"); err != nil {
		return err
	}
	for i := range b.n {
		fmt.Fprintf(os.Stderr, "bench: chain %d of %d\n", i+1, b.n)
		var out bytes.Buffer
		took, err := b.timed(ctx, &out, "autoscale", "-o", "json", "--lab", name, "--evidence", b.dir)
		if err != nil {
			return err
		}
		var r chainReport
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
			return fmt.Errorf("read the chain's report: %w", err)
		}
		b.add(chainWhole, took)
		paths := map[string]float64{}
		for _, h := range r.Hops {
			paths[h.Phase] += h.Took
		}
		b.add(chainUp, paths["up"])
		b.add(chainDown, paths["down"])
		for _, h := range r.Hops {
			b.add(chainWhole+": hop "+h.Hop, h.Took)
		}
	}
	return nil
}
