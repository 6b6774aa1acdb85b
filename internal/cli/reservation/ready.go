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

	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/hook"
)

// readyFlags say when what was provisioned may be used.
type readyFlags struct {
	nodes, passes int
	within, every time.Duration
}

func (f *readyFlags) add(cmd *cobra.Command) {
	cmd.Flags().IntVar(&f.nodes, "nodes", 0, "nodes that a deployment has to have (without: node-count of the registry)")
	cmd.Flags().IntVar(&f.passes, "passes", 2, "looks in a row that have to find it ready, with the same nodes")
	cmd.Flags().DurationVar(&f.within, "ready-within", time.Hour, "how long it may take to be ready")
	cmd.Flags().DurationVar(&f.every, "ready-every", 15*time.Second, "pause between two looks")
}

// ready looks at a deployment until it is the same and ready so many times in a row.
func (f *readyFlags) await(s Streams, client *hook.Client) (func(context.Context, config.Reservation, string, hook.Lease) error, error) {
	home, err := lab.Home()
	if err != nil {
		return nil, infrastructure(err)
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
			Expected: hook.ReadyExpectation{Nodes: nodes, GPUs: row.GPUCount, Checks: f.passes},
			Timeout:  f.within, Interval: f.every, Log: io.MultiWriter(log, attempts{s.Err, name, f.passes}), Clock: hook.MachineClock(),
			GetNodes: func(ctx context.Context) (hook.Nodes, error) { return client.GetNodes(ctx, row, name, l) },
		})
		return err //nolint:wrapcheck // says what it was doing
	}, nil
}

// attempts tells people about each look at a deployment: it is written lines of JSON.
type attempts struct {
	to     io.Writer
	name   string
	passes int
}

func (a attempts) Write(line []byte) (int, error) {
	var look hook.ReadyAttempt
	if err := json.Unmarshal(line, &look); err != nil {
		return 0, fmt.Errorf("read an attempt: %w", err)
	}
	why := ""
	if len(look.Reasons) > 0 {
		why = ": " + strings.Join(look.Reasons, "; ")
	}
	_, err := fmt.Fprintf(a.to, "%s  %s ready in %d of %d looks%s\n", look.EndedAt.UTC().Format("15:04:05"), a.name, look.Checks, a.passes, why)
	return len(line), err //nolint:wrapcheck // the caller says what it was doing
}
