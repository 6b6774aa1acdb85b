package site

import _ "embed"

//go:embed data/single-node.yaml
var singleNode []byte

//go:embed data/slurm.yaml
var slurmExampleFile []byte

//go:embed data/ray.yaml
var rayExampleFile []byte

//go:embed data/example.yaml
var example []byte

// Example is a commented site file that passes Parse.
func Example() []byte { return append([]byte(nil), example...) }

// SlurmExample is examples/sites/slurm.yaml.
func SlurmExample() []byte { return append([]byte(nil), slurmExampleFile...) }

// RayExample is examples/sites/ray.yaml: the keys that a RayCluster adds to a site file.
func RayExample() []byte { return append([]byte(nil), rayExampleFile...) }
