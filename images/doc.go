// Package images has tests only: they lint the Dockerfiles of this folder and compare their versions
// with versions.yaml.
package images
