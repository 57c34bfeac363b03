// A gauge with gauge.cpp, apart from its drawing.
#include <MSFS/Legacy/gauges.h>
#include <MSFS/MSFS.h>

#include <string>

#include "gauge.cpp"

// What the screen says in the place of the gauge. Empty: the gauge itself is drawn.
static std::string shown = "Checking the key …";
static std::string next = shown;  // What it is to say as soon as nobody is flying.

static void unlock() { next = ""; }

static void lock(activation::Result result) {
  if (result == activation::Result::Inactive) {
    next = "There is no active key for this name. Is it right?";
  } else if (result == activation::Result::NoAnswer) {
    next = "The key could not be checked yet. Are you online?";
  } else {
    next = "The key cannot be checked. If that stays so, please update this aircraft.";
  }
}

static activation::Asking asking(unlock, lock);

// Call it when the operator's back end has activated the key, or the user has corrected the name.
void activated(const std::string& name) {
  next = "Checking the key …";
  asking.ask(name);
}

// Nobody is locked in a flight that has begun.
static bool mayLock() {
  static const ENUM onGround = get_aircraft_var_enum("SIM ON GROUND");
  static const ENUM speed = get_aircraft_var_enum("GROUND VELOCITY");
  static const ENUM combustion = get_aircraft_var_enum("GENERAL ENG COMBUSTION");
  static const ENUM isTrue = get_units_enum("Bool");
  static const ENUM knots = get_units_enum("Knots");
  return aircraft_varget(onGround, isTrue, 0) != 0 && aircraft_varget(speed, knots, 0) < 1 &&
         aircraft_varget(combustion, isTrue, 1) == 0;
}

// The simulator calls it for the gauge `Example` of panel.cfg.
extern "C" MSFS_CALLBACK bool Example_gauge_callback(FsContext, int service, void*) {
  switch (service) {
    case PANEL_SERVICE_PRE_INSTALL: {
      const std::string name = activation::storedName();
      if (name.empty()) {
        next = "Type your name and your key.";
      } else {
        asking.ask(name);
      }
      return true;
    }
    case PANEL_SERVICE_PRE_DRAW:
      asking.update();
      if (next.empty() || !shown.empty() || mayLock()) shown = next;
      // Draw the text of `shown` here or, if it is empty, the gauge.
      return true;
    case PANEL_SERVICE_PRE_KILL:
      asking.stop();
      return true;
  }
  return false;
}
