package reservation

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/hook"
)

// readyFlags say when a deployment is ready.
type readyFlags struct {
	nodes, checks     int
	timeout, interval time.Duration
}

func (f *readyFlags) add(cmd *cobra.Command) {
	cmd.Flags().IntVar(&f.nodes, "nodes", 0, "expected nodes of a deployment (default: node-count of the registry)")
	cmd.Flags().IntVar(&f.checks, "ready-checks", 2, "consecutive readiness checks required, with an unchanged node list")
	cmd.Flags().DurationVar(&f.timeout, "ready-timeout", time.Hour, "longest time until a deployment is ready")
	cmd.Flags().DurationVar(&f.interval, "ready-interval", 15*time.Second, "pause between two readiness checks")
}

func (f *readyFlags) check() error {
	if f.nodes < 0 || f.checks < 1 || f.timeout <= 0 || f.interval < 0 {
		return cmdutil.UsageErrorf("invalid --nodes %d, --ready-checks %d, --ready-timeout %s or --ready-interval %s: --ready-checks must be at least 1, --ready-timeout positive, the others not negative",
			f.nodes, f.checks, f.timeout, f.interval)
	}
	return nil
}

// checkRows refuses an expectation that no deployment of a row can meet, before one is provisioned for it.
func (f *readyFlags) checkRows(rows ...config.Reservation) error {
	var without []string
	for _, row := range rows {
		if row.NodeCount == 0 && f.nodes == 0 {
			without = append(without, row.Name)
		}
	}
	if len(without) > 0 {
		return fmt.Errorf("no node-count of %s, so no deployment of it is ever ready: add it to the row, or set --nodes", strings.Join(without, ", "))
	}
	return nil
}

// await returns a function that waits until a deployment is ready.
func (f *readyFlags) await(s cmdutil.Streams, client *hook.Client) (func(context.Context, config.Reservation, string, hook.Lease) error, error) {
	home, err := lab.Home()
	if err != nil {
		return nil, cmdutil.Unobserved(err)
	}
	logs := filepath.Join(home, "readiness")
	return func(ctx context.Context, row config.Reservation, name string, l hook.Lease) error {
		if err := os.MkdirAll(logs, 0o700); err != nil {
			return fmt.Errorf("log the readiness of %s: %w", name, err)
		}
		log, err := os.OpenFile(filepath.Join(logs, name+".jsonl"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return fmt.Errorf("log the readiness of %s: %w", name, err)
		}
		defer log.Close()
		nodes := row.NodeCount
		if f.nodes > 0 {
			nodes = f.nodes
		}
		_, err = hook.WaitReady(ctx, hook.ReadyOptions{
			Expected: hook.ReadyExpectation{Nodes: nodes, GPUs: row.GPUCount, Checks: f.checks},
			Timeout:  f.timeout, Interval: f.interval, Log: io.MultiWriter(log, attempts{s.Err, name, f.checks}), Clock: hook.MachineClock(),
			GetNodes: func(ctx context.Context) (hook.Nodes, error) { return client.GetNodes(ctx, row, name, l) },
		})
		return err
	}, nil
}

// attempts prints each readiness check. Its input is lines of JSON.
type attempts struct {
	to     io.Writer
	name   string
	checks int
}

func (a attempts) Write(line []byte) (int, error) {
	var attempt hook.ReadyAttempt
	if err := json.Unmarshal(line, &attempt); err != nil {
		return 0, fmt.Errorf("cannot read an attempt: %w", err)
	}
	reasons := ""
	if len(attempt.Reasons) > 0 {
		reasons = ": " + strings.Join(attempt.Reasons, "; ")
	}
	_, err := fmt.Fprintf(a.to, "%s  %s passed %d of %d readiness checks%s\n", attempt.EndedAt.UTC().Format("15:04:05"), a.name, attempt.Checks, a.checks, reasons)
	return len(line), err
}
