package component

import (
	"path/filepath"
	"slices"
	"strconv"
)

// KeptDir is what a store keeps when it stops, below its directory.
const KeptDir = "kept"

// forStore are the components of a store.
func (c Config) forStore() []Component {
	return []Component{c.storeEtcd(), c.storeAPIServer()}
}

// storeEtcd writes to the disk before it answers.
func (c Config) storeEtcd() Component {
	s := c.Etcd()
	s.Argv = with(without(s.Argv, "--unsafe-no-fsync"), "--data-dir="+filepath.Join(c.Dir, KeptDir, Etcd))
	return s
}

// storeAPIServer serves no pods: nothing has to be admitted to nodes, and nobody needs gangs.
func (c Config) storeAPIServer() Component {
	s := c.APIServer()
	s.Argv = without(s.Argv, "--feature-gates", "--runtime-config", "--kubelet-preferred-address-types",
		"--kubelet-certificate-authority", "--kubelet-client-certificate", "--kubelet-client-key")
	s.Env = append(s.Env, "GOGC="+strconv.Itoa(gcPercent))
	return s
}

// Extendable tells whether a lab of this purpose can have extras.
func (p Purpose) Extendable() bool { return !slices.Contains([]Purpose{Scheduling, Store}, p) }
