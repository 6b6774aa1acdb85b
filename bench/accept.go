package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

const (
	withLab = "accept, lab start included"
	onLab   = "accept on a running lab"
)

// acceptReport is what accept -o json prints, as far as it is measured.
type acceptReport struct {
	Verdict string `json:"verdict"`
	Gates   []struct {
		Gate     string  `json:"gate"`
		Duration float64 `json:"duration"`
	} `json:"gates"`
}

// measureAccept runs all gates, with the start of the lab and on one that is up.
func (b *bench) measureAccept(ctx context.Context) (err error) {
	if err := b.warm(ctx); err != nil {
		return err
	}
	for i := range b.n {
		fmt.Fprintf(os.Stderr, "bench: accept %d of %d, lab start included\n", i+1, b.n)
		if err := b.accept(ctx, withLab, "bench-own"); err != nil {
			return err
		}
	}
	const name = "bench-up"
	defer func() { err = errors.Join(err, b.labDown(ctx, name)) }()
	if _, err := b.timed(ctx, nil, "lab", "up", "--name", name); err != nil {
		return err
	}
	for i := range b.n {
		fmt.Fprintf(os.Stderr, "bench: accept %d of %d on a running lab\n", i+1, b.n)
		if err := b.accept(ctx, onLab, name); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) accept(ctx context.Context, figure, lab string) error {
	var out bytes.Buffer
	took, err := b.timed(ctx, &out, "accept", "--fresh", "-o", "json", "--lab", lab, "--evidence", b.dir)
	if err != nil {
		return err
	}
	var r acceptReport
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		return fmt.Errorf("read the report: %w", err)
	}
	if r.Verdict != "passed" || len(r.Gates) == 0 {
		return fmt.Errorf("accept ended with verdict %q and %d gates", r.Verdict, len(r.Gates))
	}
	b.add(figure, took)
	for _, g := range r.Gates {
		b.add(figure+": gate "+g.Gate, g.Duration)
	}
	return nil
}
