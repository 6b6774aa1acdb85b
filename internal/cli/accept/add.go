package accept

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/capacity"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	clievidence "github.com/firstlight/firstlight/internal/cli/evidence"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/site"
)

// addFlags select the new nodes and the accepted run that they are added to.
type addFlags struct {
	file   string
	to     string
	keys   []string
	maxAge time.Duration
	nodes  capacity.File
}

func (f *addFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.file, "add", "", "file of new nodes behind a cordon: accept them in addition to an accepted run")
	flags.StringVar(&f.to, "to", "", "directory of the accepted run to add to (default: the newest accepted run of the site)")
	flags.StringArrayVar(&f.keys, "key", nil, "public key of an accepted signer of the run of --to (repeatable; one must match)")
	flags.DurationVar(&f.maxAge, "max-age", 0, "oldest accepted run to add to (default: 720h)")
	for _, other := range []string{"resume", "from", "only", "include", "allow-failed", "preflight", "soak", "spine", "page"} {
		cmd.MarkFlagsMutuallyExclusive("add", other)
	}
}

// read reads the file before a lab starts for it, and makes the target connect to its hosts too.
func (f *addFlags) read(t *cmdutil.TargetFlags) (err error) {
	if f.file == "" {
		if f.to != "" || len(f.keys) > 0 || f.maxAge != 0 {
			return cmdutil.UsageErrorf("--to, --key and --max-age need --add")
		}
		return nil
	}
	if f.maxAge < 0 {
		return cmdutil.UsageErrorf("invalid --max-age %s: must not be negative", f.maxAge)
	}
	if f.maxAge == 0 {
		if f.maxAge, err = accept.MaxAgeOfBase(); err != nil {
			return err
		}
	}
	if f.nodes, err = readNodes(f.file); err != nil {
		return cmdutil.UsageErrorf("%w", err)
	}
	t.HostsOf = func(s *site.Site) *site.Site { return f.nodes.MergeInto(s) }
	return nil
}

func readNodes(file string) (capacity.File, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return capacity.File{}, fmt.Errorf("cannot read --add: %w", err)
	}
	return capacity.ParseFile(file, data)
}

// toRun decides what is added to which accepted run, whose evidence it verifies.
func (f *addFlags) toRun(ctx context.Context, t *cmdutil.Target, runs string) (*capacity.Addition, error) {
	path := f.to
	if path == "" {
		var err error
		path, err = clievidence.Newest(runs, t.Site.Name, func(b *evidence.Bundle) error {
			_, err := capacity.BaseOf(b)
			return err
		})
		if err != nil {
			return nil, err
		}
		if path == "" {
			return nil, cmdutil.UsageErrorf("%s has no accepted run of site %s: run firstlight accept without the new nodes first, or name a run with --to", runs, t.Site.Name)
		}
	}
	b, _, err := clievidence.Verified(ctx, path, f.keys, "a run to add nodes to")
	if err != nil {
		return nil, err
	}
	base, err := capacity.BaseOf(b)
	if err != nil {
		return nil, cmdutil.UsageErrorf("%w", err)
	}
	if err := base.Newer(runs, filepath.Dir(filepath.Clean(path))); err != nil {
		return nil, cmdutil.UsageErrorf("%w", err)
	}
	if err := base.Fresh(time.Now(), f.maxAge); err != nil {
		return nil, cmdutil.UsageErrorf("%w", err)
	}
	addition, err := base.Add(t.Site, t.Profile, f.nodes)
	if err != nil {
		return nil, cmdutil.UsageErrorf("%w", err)
	}
	c, err := t.ControlPlane(ctx)
	if err != nil {
		return nil, cmdutil.Unobserved(err)
	}
	uid, simulated, err := accept.Identify(ctx, c)
	if err != nil {
		return nil, cmdutil.Unobserved(fmt.Errorf("identify the cluster: %w", err))
	}
	if err := base.RequireCluster(uid, simulated); err != nil {
		return nil, cmdutil.UsageErrorf("%w", err)
	}
	return &addition, nil
}
