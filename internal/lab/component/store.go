package component

import (
	"path/filepath"
	"slices"
)

// KeptDir is the part of a store's directory that is kept when it stops.
const KeptDir = "kept"

func (c Config) forStore() []Component {
	return []Component{c.storeEtcd(), c.storeAPIServer()}
}

// storeEtcd syncs to disk before it responds.
func (c Config) storeEtcd() Component {
	s := c.Etcd()
	s.Argv = with(without(s.Argv, "--unsafe-no-fsync"), "--data-dir="+filepath.Join(c.Dir, KeptDir, Etcd))
	return s
}

// storeAPIServer needs neither node admission nor gangs.
func (c Config) storeAPIServer() Component {
	s := c.privateAPIServer()
	s.Argv = without(s.Argv, "--feature-gates", "--runtime-config", "--kubelet-preferred-address-types",
		"--kubelet-certificate-authority", "--kubelet-client-certificate", "--kubelet-client-key")
	return s
}

// Extendable reports whether labs of this purpose can have extras.
func (p Purpose) Extendable() bool { return !slices.Contains([]Purpose{Scheduling, Store}, p) }
