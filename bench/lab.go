package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

const labUp = "lab up"

// measureLab starts labs and kwokctl's clusters in turns, each from nothing. Both run the
// same files, which are built and were run once before.
func (b *bench) measureLab(ctx context.Context) error {
	if err := b.warm(ctx); err != nil {
		return err
	}
	k, err := b.openKwokctl(ctx)
	if err != nil {
		return err
	}
	if _, err := k.cycle(ctx); err != nil { // as warm as the lab's
		return err
	}
	for i := range b.n {
		fmt.Fprintf(os.Stderr, "bench: lab up and %s %d of %d\n", kwokctlPeer, i+1, b.n)
		took, err := b.labCycle(ctx)
		if err != nil {
			return err
		}
		b.add(labUp, took)
		if took, err = k.cycle(ctx); err != nil {
			return err
		}
		b.add(kwokctlUp, took)
	}
	b.say("%s is compared with kwokctl create cluster --runtime binary --wait, which runs the same files but starts less: etcd, kube-apiserver, "+
		"kube-controller-manager, kube-scheduler and kwok, until the processes exist and /healthz is ok. Its etcd syncs to the disk, a lab's does not. A lab also starts Prometheus, Alertmanager, "+
		"prometheus-adapter and the simulated hosts, and is up when every component is ready and a pod was scheduled and ran.", labUp)
	return nil
}

// labCycle starts a fresh lab and ends it; only the start is timed.
func (b *bench) labCycle(ctx context.Context) (took float64, err error) {
	const name = "bench-fresh"
	// lab up of a lab that is up already would take no time: it must have ended, and what it
	// leaves (logs) is deleted.
	defer func() {
		err = errors.Join(err, b.labDown(ctx, name), os.RemoveAll(filepath.Join(b.dir, home, "labs", name)))
	}()
	took, err = b.timed(ctx, nil, "lab", "up", "--name", name)
	if err != nil {
		return 0, err
	}
	if _, err := b.timed(ctx, nil, "lab", "status", "--name", name); err != nil {
		return 0, fmt.Errorf("lab up returned before the lab was ready: %w", err)
	}
	return took, nil
}

// warm starts a lab once in a run, which builds the programs that are not built yet.
func (b *bench) warm(ctx context.Context) error {
	if b.warmed {
		return nil
	}
	fmt.Fprintln(os.Stderr, "bench: a first lab (builds the upstream programs the first time)")
	if _, err := b.labCycle(ctx); err != nil {
		return err
	}
	b.warmed = true
	return nil
}

// labDown ends a lab, also after an interrupt.
func (b *bench) labDown(ctx context.Context, name string) error {
	_, err := b.timed(context.WithoutCancel(ctx), nil, "lab", "down", "--name", name)
	return err
}
