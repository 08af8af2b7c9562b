#pragma once

#include "verve/choices.h"
#include "verve/convert.h"
#include "verve/material.h"
#include "verve/mesh.h"
#include "verve/record.h"
#include "verve/registry.h"
#include "verve/scene.h"
#include "verve/scene_file.h"
#include "verve/simulation.h"
#include "verve/snapshot.h"
#include "verve/version.h"
