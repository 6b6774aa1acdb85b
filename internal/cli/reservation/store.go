package reservation

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/lab/localstore"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/clock"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// storeFlags select the store of the reservations.
type storeFlags struct{ kubeconfig, context, clockFile string }

func addStoreFlags(cmd *cobra.Command) *storeFlags {
	f := &storeFlags{}
	cmd.Flags().StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig of the cluster with the reservations (default: a local store, started on demand)")
	cmd.Flags().StringVar(&f.context, "context", "", "context of the kubeconfig")
	cmd.Flags().StringVar(&f.clockFile, "clock", "", "file of a simulated clock")
	cmdutil.HideFlags(cmd, "clock")
	return f
}

// clock is the machine's clock or a simulated one.
func (f *storeFlags) clock() (clock.Clock, error) {
	if f.clockFile == "" {
		return clock.Machine(), nil
	}
	c, err := clock.Open(f.clockFile)
	return c, cmdutil.Unobserved(err)
}

// reservations is the open store.
type reservations struct {
	*broker.Broker
	store *store.Kube
	held  broker.TokenCache
	clock clock.Clock
}

// open connects to the store.
func (f *storeFlags) open(ctx context.Context, s cmdutil.Streams) (*reservations, error) {
	config, err := f.config(ctx, s)
	if err != nil {
		return nil, err
	}
	c, err := f.clock()
	if err != nil {
		return nil, err
	}
	b, k, err := broker.Open(config, broker.Options{Clock: c})
	if err != nil {
		return nil, cmdutil.Unobserved(err)
	}
	home, err := lab.Home()
	if err != nil {
		return nil, cmdutil.Unobserved(err)
	}
	remote := config
	if f.kubeconfig == "" {
		remote = nil
	}
	tokens, err := broker.TokenCacheOf(filepath.Join(home, "held"), remote)
	if err != nil {
		return nil, cmdutil.Unobserved(err)
	}
	return &reservations{Broker: b, store: k, held: tokens, clock: c}, nil
}

func (f *storeFlags) config(ctx context.Context, s cmdutil.Streams) (*rest.Config, error) {
	if f.kubeconfig == "" && f.context != "" {
		return nil, cmdutil.UsageErrorf("--context needs --kubeconfig")
	}
	if f.kubeconfig != "" {
		cluster, err := kube.Open(f.kubeconfig, f.context)
		if err != nil {
			return nil, cmdutil.UsageErrorf("%w", err)
		}
		return cluster.Config, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, cmdutil.Unobserved(fmt.Errorf("start the store: %w", err))
	}
	board := cmdutil.NewBoard(s.Err)
	defer board.Close()
	config, err := localstore.Connect(ctx, localstore.Options{Command: []string{self, "reservation", "store", "supervise"}, Events: cmdutil.LabProgress(board)})
	return config, cmdutil.Unobserved(err)
}

// storeError adds the remedy to an error of the store.
func storeError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrNotFound):
		return cmdutil.UsageErrorf("%w\nlist reservations with firstlight reservation get; add those of a registry with firstlight reservation apply --file reservations.yaml", err)
	default:
		return cmdutil.Unobserved(err)
	}
}

// defaultHolder is USER@HOST.
func defaultHolder() string {
	name := "unknown"
	if u, err := user.Current(); err == nil && u.Username != "" {
		name = u.Username
	}
	if host, err := os.Hostname(); err == nil {
		name += "@" + host
	}
	return name
}

func newStore(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "store",
		Short: "Start, stop and install the store of reservations",
		Long: `Reservations are Kubernetes objects. Without --kubeconfig they are in a local store: etcd,
which syncs every write to disk, and kube-apiserver. A command that needs it starts it,
and it keeps running.`,
		Example: `  firstlight reservation store up
  kubectl --kubeconfig $(firstlight reservation store kubeconfig) get reservations

  # Stop the store; its data is kept
  firstlight reservation store down

  # Keep the reservations in a cluster
  firstlight reservation store install --kubeconfig store.yaml`,
	}
	cmd.AddCommand(newStoreUp(s), newStoreDown(s), newStoreKubeconfig(s), newStoreInstall(s), newStoreSupervise())
	return cmd
}

func newStoreUp(s cmdutil.Streams) *cobra.Command {
	return &cobra.Command{Use: "up", Short: "Start the local store and wait until it is ready", Example: "  firstlight reservation store up", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		f := storeFlags{}
		if _, err := f.config(cmd.Context(), s); err != nil {
			return err
		}
		fmt.Fprintln(s.Err, "the store is running; stop it with firstlight reservation store down")
		return nil
	}}
}

func newStoreDown(s cmdutil.Streams) *cobra.Command {
	return &cobra.Command{Use: "down", Short: "Stop the local store; its data is kept", Example: "  firstlight reservation store down", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		err := localstore.Down(cmd.Context())
		if errors.Is(err, lab.ErrNotRunning) {
			fmt.Fprintln(s.Err, "the store is not running")
			return nil
		}
		return cmdutil.Unobserved(err)
	}}
}

func newStoreKubeconfig(s cmdutil.Streams) *cobra.Command {
	return &cobra.Command{Use: "kubeconfig", Short: "Print the path of the local store's kubeconfig", Example: "  kubectl --kubeconfig $(firstlight reservation store kubeconfig) get reservations", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error {
		dir, err := localstore.Dir()
		if err != nil {
			return cmdutil.Unobserved(err)
		}
		path := localstore.Kubeconfig(dir)
		if _, err := os.Stat(path); err != nil {
			return cmdutil.Unobserved(errors.New("the store is not running: start it with firstlight reservation store up"))
		}
		_, err = fmt.Fprintln(s.Out, path)
		return cmdutil.Unobserved(err)
	}}
}

func newStoreInstall(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{Use: "install", Short: "Install the CustomResourceDefinitions and the admission policy in a cluster", Example: "  firstlight reservation store install --kubeconfig store.yaml", Args: cobra.NoArgs}
	f := addStoreFlags(cmd)
	printed := cmd.Flags().Bool("print", false, "print the definitions without installing them")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if *printed {
			_, err := s.Out.Write(store.Definitions())
			return cmdutil.Unobserved(err)
		}
		if f.kubeconfig == "" {
			return cmdutil.UsageErrorf("--kubeconfig is required: the local store needs no installation")
		}
		config, err := f.config(cmd.Context(), s)
		if err != nil {
			return err
		}
		return cmdutil.Unobserved(store.Install(cmd.Context(), config))
	}
	return cmd
}

// newStoreSupervise is the process of the local store.
func newStoreSupervise() *cobra.Command {
	cmd := &cobra.Command{Use: "supervise", Hidden: true, Short: "Run the store in this process", Args: cobra.NoArgs}
	_ = cmd.Flags().String("name", localstore.Name, "name of the store")
	dir := cmd.Flags().String("dir", "", "directory of the store")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return cmdutil.Unobserved(localstore.Supervise(cmd.Context(), *dir, cmdutil.BuildPrograms))
	}
	return cmd
}
