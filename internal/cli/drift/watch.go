package drift

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	clievidence "github.com/firstlight/firstlight/internal/cli/evidence"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/drift"
	"github.com/firstlight/firstlight/internal/drift/watch"
	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/site"
)

// shortestInterval is the shortest --every: a host has a fifth of it for all commands.
const shortestInterval = 10 * time.Second

// watchFlags are the flags of --watch.
type watchFlags struct {
	on     bool
	every  time.Duration
	listen string
}

func (w *watchFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&w.on, "watch", false, "watch the accepted nodes without load, and print only what changes")
	flags.DurationVar(&w.every, "every", 0, "with --watch: time from the start of a round to the next, moved at random by up to a tenth (default 5m)")
	flags.StringVar(&w.listen, "listen", "", "with --watch: address of /metrics and /healthz, such as :9479 (default: none)")
	for _, other := range []string{"fresh", "namespace"} {
		cmd.MarkFlagsMutuallyExclusive("watch", other)
	}
}

// unused refuses flags that only --watch uses.
func (w *watchFlags) unused() error {
	if w.every != 0 || w.listen != "" {
		return cmdutil.UsageErrorf("--every and --listen need --watch")
	}
	return nil
}

// validateWatch also sets the default of --every.
func (f *driftFlags) validateWatch() error {
	if f.watch.every == 0 {
		var err error
		if f.watch.every, err = watch.DefaultInterval(); err != nil {
			return cmdutil.Unobserved(err)
		}
	}
	switch {
	case f.watch.every < shortestInterval:
		return cmdutil.UsageErrorf("invalid --every %s: must be at least %s", f.watch.every, shortestInterval)
	case f.out.String() == "yaml":
		return cmdutil.UsageErrorf("--watch prints text or lines of JSON: -o yaml is not available")
	}
	if info, err := os.Stat(f.against); f.against != "" && err == nil && !info.IsDir() {
		return cmdutil.UsageErrorf("--watch needs the directory of an accepted run: %s is a recorded baseline, without the versions of each node", f.against)
	}
	return f.target.Validate()
}

func (f *driftFlags) runWatch(ctx context.Context, s cmdutil.Streams) (err error) {
	if err := f.validateWatch(); err != nil {
		return err
	}
	board := cmdutil.NewBoard(s.Err)
	closeBoard := sync.OnceFunc(board.Close)
	defer closeBoard()
	t, err := f.target.Open(ctx, board)
	if err != nil {
		return err
	}
	defer func() { err = endOf(err, t.Close(ctx)) }()
	accepted, dir, err := f.accepted(ctx, t)
	if err != nil {
		return err
	}
	o := watch.Options{Accepted: accepted, Every: f.watch.every, Dir: dir, Command: f.acceptCommand(), Report: f.reporter(s.Out)}
	if err := addGates(&o, t); err != nil {
		return err
	}
	w, err := watch.Open(o)
	if errors.Is(err, watch.ErrLocked) {
		return cmdutil.UsageErrorf("%w: end it first", err)
	}
	if err != nil {
		return cmdutil.Unobserved(err)
	}
	defer func() { err = endOf(err, w.Close()) }()
	server, err := serveWatch(ctx, f.watch.listen, w)
	if err != nil {
		return cmdutil.Unobserved(err)
	}
	defer server.close()
	closeBoard()
	fmt.Fprint(s.Err, notWatched(t.Site, accepted.Run))
	fmt.Fprintf(s.Err, "watching %s of run %s every %s%s; journal: %s (%s)\n", cmdutil.Count(len(accepted.Machines), "node"), accepted.Run, f.watch.every, server.text(), w.Journal(), cmdutil.Count(w.Transitions(), "transition"))
	if err := server.whileServing(ctx, w.Run); err != nil {
		return cmdutil.Unobserved(err)
	}
	fmt.Fprintf(s.Err, "watch ended; journal: %s (%s)\n", w.Journal(), cmdutil.Count(w.Transitions(), "transition"))
	return &cmdutil.ExitError{Code: cmdutil.ExitPassed} // a signal is how a watch ends
}

// endOf adds the error of a clean-up to that of a command. A clean end stays one.
func endOf(err, closing error) error {
	if closing == nil {
		return err
	}
	if cmdutil.ExitCode(err) == cmdutil.ExitPassed {
		err = nil
	}
	return errors.Join(err, cmdutil.Unobserved(closing))
}

// accepted is the verified run that the watch compares with, of this cluster and these nodes, and the
// directory of its journal.
func (f *driftFlags) accepted(ctx context.Context, t *cmdutil.Target) (a watch.Accepted, dir string, err error) {
	if f.against == "" {
		if f.against, err = newest(f.evidence, t.Site.Name, drift.Accepted); err != nil {
			return a, "", err
		}
	}
	b, _, err := clievidence.Verified(ctx, f.against, *f.keys, "a run to watch")
	if err != nil {
		return a, "", err
	}
	if a, err = watch.Accept(b); err != nil {
		return a, "", cmdutil.UsageErrorf("%w", err)
	}
	if err := sameCluster(ctx, t, a.Run, a.Cluster); err != nil {
		return a, "", err
	}
	path, err := filepath.Abs(b.Dir)
	if err != nil {
		return a, "", cmdutil.Unobserved(err)
	}
	return a, watch.Dir(filepath.Dir(path), a.Run), sameNodes(t, a)
}

// sameNodes requires the accepted nodes in the site, and leaves out nodes that the run did not accept.
func sameNodes(t *cmdutil.Target, a watch.Accepted) error {
	var names []string
	for _, m := range a.Machines {
		names = append(names, m.Host)
	}
	in := t.Site.NodeNames()
	missing := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(in, n) })
	if len(missing) > 0 {
		return cmdutil.UsageErrorf("the site has no node %s, which run %s accepted: name it in the inventory, or accept the cluster without it (firstlight accept)", strings.Join(missing, ", "), a.Run)
	}
	t.Site = t.Site.Part(slices.DeleteFunc(slices.Clone(in), func(n string) bool { return slices.Contains(names, n) }))
	return nil
}

// notWatched is a line with the nodes of the site that the run did not accept; empty where the site has no such node.
func notWatched(s *site.Site, run string) string {
	var names []string
	for _, n := range s.Inventory.Others {
		names = append(names, n.Name)
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("not watched: %s, as run %s did not accept %s: accept the whole site (firstlight accept) and watch against that run\n",
		strings.Join(names, ", "), run, map[bool]string{true: "it", false: "them"}[len(names) == 1])
}

// addGates adds gate node of each group of nodes, and what the site declares.
func addGates(o *watch.Options, t *cmdutil.Target) (err error) {
	if o.Declared, err = watch.Declared(t.Site, t.Profile); err != nil {
		return cmdutil.Unobserved(err)
	}
	hosts := gate.Access{Hosts: t.Hosts, Cluster: t.ControlPlane}.Tools(t.Site)
	for _, v := range t.Site.Views(t.Profile) {
		if len(v.Site.Inventory.Nodes) > 0 {
			o.Gates = append(o.Gates, node.NewLowLoad(v.Site, v.Profile, node.Deps{Hosts: hosts}))
		}
	}
	return nil
}

// acceptCommand is the command that accepts the cluster again.
func (f *driftFlags) acceptCommand() string {
	args := slices.Concat([]string{"firstlight", "accept"}, f.target.Args(), cmdutil.FlagArgs([3]string{"--evidence", f.evidence, "evidence"}))
	return ssh.Quote(args)
}

// reporter prints transitions: text, or one line of JSON each.
func (f *driftFlags) reporter(out io.Writer) func(watch.Transition) error {
	return func(tr watch.Transition) error {
		return cmdutil.WriteWhole(out, func(w io.Writer) error {
			if f.out.String() == "json" {
				enc := json.NewEncoder(display.PlainJSON(w))
				enc.SetEscapeHTML(false)
				return enc.Encode(tr)
			}
			printTransition(display.Plain(w, cmdutil.IsColor(out)), tr)
			return nil
		})
	}
}

func printTransition(w io.Writer, tr watch.Transition) {
	note := ""
	if tr.Flapping {
		note = ", flapping"
	}
	fmt.Fprintf(w, "%s %s: %s -> %s (%s; %s since %s%s)\n", tr.At.Format(time.RFC3339), tr.Node, tr.From, tr.To, strings.Join(tr.Checks, ", "),
		cmdutil.Count(tr.Observations, "observation"), tr.Since.Format(time.TimeOnly), note)
	for _, f := range tr.Findings {
		fmt.Fprintf(w, "  %s: %s\n    %s\n", f.Suspect, f.Message, cmp.Or(f.Remedy, "-"))
	}
	if tr.Accept != "" {
		fmt.Fprintf(w, "  to accept the change: %s\n", tr.Accept)
	}
}
