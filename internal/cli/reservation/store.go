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

	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/lab/localstore"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/clock"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// storeFlags say where reservations are kept.
type storeFlags struct{ kubeconfig, context, clockFile string }

func addStoreFlags(cmd *cobra.Command) *storeFlags {
	f := &storeFlags{}
	cmd.Flags().StringVar(&f.kubeconfig, "kubeconfig", "", "cluster that keeps the reservations (without: a store of firstlight's own on this machine, started on need)")
	cmd.Flags().StringVar(&f.context, "context", "", "context of the kubeconfig")
	cmd.Flags().StringVar(&f.clockFile, "clock", "", "file of a clock that jumps: for rehearsals")
	if err := cmd.Flags().MarkHidden("clock"); err != nil {
		panic(err) // the flag was added one line above
	}
	return f
}

// clock is the machine's, or a rehearsal's.
func (f *storeFlags) clock() (clock.Clock, error) {
	if f.clockFile == "" {
		return clock.Machine(), nil
	}
	c, err := clock.Open(f.clockFile)
	return c, infrastructure(err)
}

// reservations is the store as a command sees it.
type reservations struct {
	*broker.Broker
	store *store.Kube
	held  broker.TokenCache
	clock clock.Clock
}

// open reaches the store that the flags name.
func (f *storeFlags) open(ctx context.Context, s Streams) (*reservations, error) {
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
		return nil, infrastructure(err)
	}
	home, err := lab.Home()
	if err != nil {
		return nil, infrastructure(err)
	}
	of := config
	if f.kubeconfig == "" {
		of = nil
	}
	tokens, err := broker.TokenCacheOf(filepath.Join(home, "held"), of)
	if err != nil {
		return nil, infrastructure(err)
	}
	return &reservations{Broker: b, store: k, held: tokens, clock: c}, nil
}

func (f *storeFlags) config(ctx context.Context, s Streams) (*rest.Config, error) {
	if f.kubeconfig == "" && f.context != "" {
		return nil, usage("--context names one of a kubeconfig: give --kubeconfig, too")
	}
	if f.kubeconfig != "" {
		cluster, err := kube.Open(f.kubeconfig, f.context)
		if err != nil {
			return nil, usage("%w", err)
		}
		return cluster.Config, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, infrastructure(fmt.Errorf("start the store of reservations: %w", err))
	}
	board := newBoard(s.Err)
	defer board.Close()
	config, err := localstore.Connect(ctx, localstore.Options{Command: []string{self, "reservation", "store", "supervise"}, Events: labProgress(board)})
	return config, infrastructure(err)
}

// explainStore says what to do where the store lacks something.
func explainStore(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrNotFound):
		return usage("%w\nsee which there are: firstlight reservation holders; add those of a registry: firstlight reservation apply --file reservations.yaml", err)
	default:
		return infrastructure(err)
	}
}

// whoIsThis names a holder who does not say.
func whoIsThis() string {
	name := "somebody"
	if u, err := user.Current(); err == nil && u.Username != "" {
		name = u.Username
	}
	if host, err := os.Hostname(); err == nil {
		name += "@" + host
	}
	return name
}

func newReservationStore(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "store",
		Short: "Where reservations are kept when no kubeconfig is given",
		Long: `Reservations are Kubernetes objects. Without --kubeconfig they are kept by a control
plane of firstlight's own on this machine: etcd, which writes to the disk before it
answers, and kube-apiserver. It is started when a command needs it and stays up.

To make a cluster of yours the store: firstlight reservation store install --kubeconfig FILE`,
		Example: `  firstlight reservation store up
  kubectl --kubeconfig $(firstlight reservation store kubeconfig) get reservations
  firstlight reservation store down        # what it keeps stays`,
	}
	cmd.AddCommand(newStoreUp(s), newStoreDown(s), newStoreKubeconfig(s), newStoreInstall(s), newStoreSupervise())
	return cmd
}

func newStoreUp(s Streams) *cobra.Command {
	return &cobra.Command{Use: "up", Short: "Start it, and return when it serves", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		f := storeFlags{}
		if _, err := f.config(cmd.Context(), s); err != nil {
			return err
		}
		fmt.Fprintln(s.Err, "the store of reservations is up; end it: firstlight reservation store down")
		return nil
	}}
}

func newStoreDown(s Streams) *cobra.Command {
	return &cobra.Command{Use: "down", Short: "Stop it; what it keeps stays", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		err := localstore.Down(cmd.Context())
		if errors.Is(err, lab.ErrNotRunning) {
			fmt.Fprintln(s.Err, "the store of reservations is not up")
			return nil
		}
		return infrastructure(err)
	}}
}

func newStoreKubeconfig(s Streams) *cobra.Command {
	return &cobra.Command{Use: "kubeconfig", Short: "Print the path of its kubeconfig", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error {
		dir, err := localstore.Dir()
		if err != nil {
			return infrastructure(err)
		}
		path := localstore.Kubeconfig(dir)
		if _, err := os.Stat(path); err != nil {
			return infrastructure(errors.New("the store is not up: firstlight reservation store up"))
		}
		_, err = fmt.Fprintln(s.Out, path)
		return infrastructure(err)
	}}
}

func newStoreInstall(s Streams) *cobra.Command {
	cmd := &cobra.Command{Use: "install", Short: "Make a cluster of yours the store: its CustomResourceDefinitions and admission policy", Args: cobra.NoArgs}
	f := addStoreFlags(cmd)
	printed := cmd.Flags().Bool("print", false, "print the definitions instead")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if *printed {
			_, err := s.Out.Write(store.Definitions())
			return infrastructure(err)
		}
		if f.kubeconfig == "" {
			return usage("--kubeconfig says which cluster; the store of firstlight's own needs no installing")
		}
		config, err := f.config(cmd.Context(), s)
		if err != nil {
			return err
		}
		return infrastructure(store.Install(cmd.Context(), config))
	}
	return cmd
}

// newStoreSupervise is the store's own process.
func newStoreSupervise() *cobra.Command {
	cmd := &cobra.Command{Use: "supervise", Hidden: true, Short: "Run the store in this process", Args: cobra.NoArgs}
	_ = cmd.Flags().String("name", localstore.Name, "name of the store")
	dir := cmd.Flags().String("dir", "", "directory of the store")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return infrastructure(localstore.Supervise(cmd.Context(), *dir, buildPrograms))
	}
	return cmd
}
