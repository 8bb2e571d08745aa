// All unit tests in one bundle.
import "./axis.test";
import "./blame.test";
import "./fold.test";
import "./format.test";
import "./lanes.test";
import "./model.test";
import "./palette.test";
import "./state.test";
import "./story.test";
import "./units.test";
