// Package nfd simulates the workers of Node Feature Discovery, whose pods cannot scan the
// world's hosts: for each host with a ready worker pod it writes the NodeFeature object that the
// worker would. It includes the labels that GPU feature discovery leaves in the worker's features
// directory. NFD's master, which is not simulated, labels the nodes.
package nfd
